"""Events, routes and deliveries as tests need them."""

from datetime import UTC, datetime
from typing import Any

from warren.contracts import (
    MAX_OBJECTIVES,
    MAX_PARTITIONS,
    BadPartition,
    Breach,
    Cause,
    GroupIncidentEvent,
    GroupStatusName,
    MaxLag,
    PendingDelivery,
    StatusChange,
    StatusChangeEvent,
)
from warren.settings.notifier import RouteSettings
from warren_core.group_incident import fold
from warren_core.standing.standing import Standing
from warren_notifier.routing.change import Change, Subject, change_of
from warren_notifier.routing.routes import Route
from warren_notifier.state.telling import Delivery

OPENED_AT = 1_795_244_400_123
MINUTE = 60_000


def event(
    status: GroupStatusName = "ERR",
    previous: GroupStatusName = "OK",
    *,
    event_id: str = "event-1",
    group: str = "billing",
    cluster: str = "prod",
    incident_id: str = "incident-1",
    at: int = OPENED_AT,
    **data: Any,
) -> StatusChangeEvent:
    bad = [] if status == "OK" else [bad_partition()]
    fields: dict[str, Any] = {
        "cluster": cluster,
        "group": group,
        "status": status,
        "previous": previous,
        "incident_id": incident_id,
        "opened_at": OPENED_AT,
        "total_lag": 2140,
        "max_lag": MaxLag(topic="orders", partition=1, lag=2101),
        "partition_counts": {"OK": 11, "STOP": 1} if bad else {"OK": 12},
        "partitions": bad,
    }
    return StatusChangeEvent(
        id=event_id,
        source=f"/warren/clusters/{cluster}",
        subject=group,
        time=datetime.fromtimestamp(at / 1000, UTC),
        data=StatusChange(**(fields | data)),
    )


def bad_partition(partition: int = 1) -> BadPartition:
    return BadPartition(
        topic="orders",
        partition=partition,
        status="STOP",
        lag=2101,
        committed=1180,
        log_end=3281,
        committed_at=OPENED_AT - MINUTE,
    )


def fullest(group: str) -> StatusChangeEvent:
    """All that an event may hold, about topics whose names are as long as Kafka takes them."""
    topics = [f"{n:03}{'t' * 246}" for n in range(MAX_PARTITIONS)]
    bad = [
        bad_partition(n).model_copy(update={"topic": topic, "explanation": group})
        for n, topic in enumerate(topics)
    ]
    breaches = [
        Breach(
            objective=topic,
            limit="max_freshness",
            status="ERR",
            since=OPENED_AT,
            value=1.0,
            wanted=1.0,
            sentence=f"{topic}/{n} is late, as {group} is",
            owner=group,
            runbook="https://runbooks.example.org/" + "r" * 1_900,
        )
        for n, topic in enumerate(topics[:MAX_OBJECTIVES])
    ]
    return event(
        group=group,
        partitions=bad,
        max_lag=MaxLag(topic=topics[0], partition=0, lag=2**63 - 1),
        cause=Cause(name="too_slow", sentence=group, action=group),
        explanation=group,
        objectives=breaches,
        late_ms=2**53,
        time_to_loss_ms=0,
    )


def incident(*changes: StatusChangeEvent) -> GroupIncidentEvent:
    """As an evaluator folds it; what was not opened here was so before."""
    known: GroupIncidentEvent | None = None
    for each in changes:
        if known is None and each.data.previous != "OK":
            known = _before(each, each.data.previous)
        found = fold(known, each) or fold(_before(each, "ERR"), each)
        assert found is not None
        known = found
    assert known is not None
    return known


def _before(change: StatusChangeEvent, status: GroupStatusName) -> GroupIncidentEvent | None:
    counts = {"partition_counts": {"STOP": 1}}
    data = change.data.model_copy(update={"status": status, "previous": "OK", **counts})
    return fold(None, change.model_copy(update={"data": data, "id": f"before-{change.id}"}))


class Folded:
    """Status changes as an evaluator folds them; one that comes again gives the same."""

    def __init__(self) -> None:
        self._by_change: dict[str, GroupIncidentEvent | None] = {}
        self._newest: dict[str, GroupIncidentEvent] = {}

    def of(self, change: StatusChangeEvent) -> GroupIncidentEvent | None:
        if change.id not in self._by_change:
            found = fold(self._newest.get(change.data.group), change)
            self._by_change[change.id] = found
            if found is not None:
                self._newest[change.data.group] = found
        return self._by_change[change.id]


def change(status: GroupStatusName = "ERR", **fields: Any) -> Change:
    return change_of(incident(event(status, **fields)))


def route(name: str = "all", channels: tuple[str, ...] = ("mail",), **fields: Any) -> Route:
    return Route(RouteSettings(name=name, channels=list(channels), **fields))


def pending_delivery(published: GroupIncidentEvent | None = None, **fields: Any) -> PendingDelivery:
    published = published or incident(event())
    values: dict[str, Any] = {
        "delivery_id": "delivery-1",
        "event_id": published.id,
        "incident_id": published.data.incident_id,
        "kind": "opened",
        "status": published.data.status,
        "route": "all",
        "channel": "mail",
        "offset": 0,
        "accepted_at": OPENED_AT,
        "deadline_at": OPENED_AT + 60 * MINUTE,
        "next_attempt_at": OPENED_AT,
    }
    return PendingDelivery(**(values | fields))


def delivery(
    published: GroupIncidentEvent | StatusChangeEvent | Standing | None = None,
    partition: int = 0,
    **fields: Any,
) -> Delivery:
    now = published if isinstance(published, Standing) else None
    of = published_event(published or event())
    subject = Subject(of.data.cluster, of.data.group)
    return Delivery(partition, subject, pending_delivery(of, **fields), of, now=now)


def published_event(
    published: GroupIncidentEvent | StatusChangeEvent | Standing,
) -> GroupIncidentEvent:
    if isinstance(published, StatusChangeEvent):
        return incident(published)
    if isinstance(published, GroupIncidentEvent):
        return published
    assert published.data is not None
    return GroupIncidentEvent(
        id="event-1",
        source="/warren/clusters/prod/incidents",
        subject=published.group,
        time=datetime.fromtimestamp(published.at / 1000, UTC),
        data=published.data,
    )


def standing(published: GroupIncidentEvent | StatusChangeEvent) -> Standing:
    """As published."""
    return Standing.of(published_event(published).data)
