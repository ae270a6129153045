"""A quarter of an hour of two groups, as records: with repeats, a rewind and what is no event."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from support import freshness_events
from support.archive_events import NOW, Record, key, lag_event, offset_event
from support.freshness_events import freshness_event, late
from warren.contracts import (
    FRESHNESS,
    FRESHNESS_CHANGED,
    GROUPS,
    INCIDENTS,
    LAG,
    NOTIFICATIONS,
    OFFSETS,
    STATUS_CHANGED,
    TOPICS,
    Event,
    GroupEvent,
    GroupIncidentEvent,
    LagEvent,
    NotificationEvent,
    StatusChangeEvent,
    Topic,
    TopicsEvent,
)
from warren_core.group_incident import fold

START = NOW - NOW % 60_000
MINUTE = 60_000
SILENCE = 700_000
"""Milliseconds for which nobody observes anything."""


CAUSES: dict[str, dict[str, Any]] = {
    "WARN": {"name": "unknown", "sentence": "nobody knows"},
    "ERR": {
        "name": "stuck_record",
        "sentence": "orders/0 stands at 600",
        "action": "look at it",
        "also": [{"name": "records_lost", "sentence": "9 are gone"}],
    },
}
"""Of a status change, by its status."""


def history() -> list[Record]:
    """Unique by topic, partition and offset; the topics are named `warren.…`."""
    values: list[tuple[Topic, bytes, bytes | None, int]] = []
    for group in ("billing", "a|b"):
        for topic, event, at in _of_group(group):
            values.append((topic, key(group), event.to_bytes(), at))
        values.append((GROUPS, key(group), None, START + 14 * MINUTE))
        values.append((FRESHNESS, key(group), None, START + 14 * MINUTE))
    for incident in folded(_late_and_stopped("settlement")):
        values.append((INCIDENTS, key("settlement"), incident.to_bytes(), incident.data.changed_at))
    values.append((NOTIFICATIONS, key("settlement"), _of_both("settlement").to_bytes(), START))
    for number, lag in enumerate(_evaluations("settlement")):
        values.append((LAG, key("settlement"), lag.to_bytes(), START + number * MINUTE))
    values.append((LAG, key("settlement"), None, START + 9 * MINUTE))
    for at, event in _log_ends():
        values.append((TOPICS, b"prod", event.to_bytes(), at))
    values += values[3:40:7]  # told twice
    values.append((OFFSETS, b"?", b"not an event", START))
    return [
        Record(key_, value, topic.full_name("warren."), number % 3, number, at + 50)
        for number, (topic, key_, value, at) in enumerate(values)
    ]


def _of_group(group: str) -> Iterator[tuple[Topic, Event, int]]:
    for step in range(24):
        at = START + step * 25_000 + (SILENCE if step > 20 else 0)
        position = 1_000 + step * 10 - (55 if step > 12 else 0)  # went back once
        event = offset_event(group, position).model_copy(update={"observed_at": at})
        yield OFFSETS, event, at
    for step in range(12):
        at = START + step * 20_000
        rows = (late((12 - step) * 1000, produce_rate=2.5), late(None, lost_records=step))
        yield FRESHNESS, freshness_event(at - freshness_events.NOW, *rows, group=group), at
    for step, members in enumerate((["x"], ["x", "y"], ["y"])):
        at = START + step * 5 * MINUTE
        event = GroupEvent.model_validate(
            {
                "cluster": "prod",
                "group": group,
                "observed_at": at,
                "position": 100 + step,
                "protocol": "classic",
                "state": "Stable",
                "generation": step,
                "members": [{"member_id": m, "client_id": "c", "host": "/h"} for m in members],
                "unowned": {"orders": [0, 1]},
            }
        )
        yield GROUPS, event, at
    changes = []
    for step, (status, previous) in enumerate([("WARN", "OK"), ("ERR", "WARN"), ("OK", "ERR")]):
        at = START + step * 3 * MINUTE
        why = {"cause": CAUSES[status]} if status in CAUSES else {}
        changes.append(status_change(group, at, status, previous, f"incident-{group}", **why))
        yield NOTIFICATIONS, delivery(group, at + 500, status, step, f"incident-{group}"), at
    for incident in folded(changes):
        yield INCIDENTS, incident, incident.data.changed_at


def folded(changes: Iterable[StatusChangeEvent]) -> Iterator[GroupIncidentEvent]:
    """What the evaluator publishes of a group's status changes."""
    known = None
    for change in changes:
        if (incident := fold(known, change)) is not None:
            yield (known := incident)


def _late_and_stopped(group: str) -> Iterator[StatusChangeEvent]:
    """Late from the first to the fourth minute, stopped from the second to the third."""
    for minute, (kind, status, previous) in enumerate(
        [
            (FRESHNESS_CHANGED, "WARN", "OK"),
            (STATUS_CHANGED, "ERR", "OK"),
            (STATUS_CHANGED, "OK", "ERR"),
            (FRESHNESS_CHANGED, "OK", "WARN"),
        ],
        1,
    ):
        at = START + minute * MINUTE
        reason = {"reason": "max_freshness"} if status == "WARN" else {}
        change = status_change(group, at, status, previous, f"{kind}-{group}", **reason)
        yield change.model_copy(update={"type": kind})


def _evaluations(group: str) -> list[LagEvent]:
    """Well, then in trouble and out of sight, in two parts."""
    ill = {
        "position": 2,
        "is_known": False,
        "parts": 2,
        "cause": CAUSES["ERR"],
        "incident": {"id": "i", "opened_at": START},
    }
    at = START + 2 * MINUTE
    return [
        lag_event(group, START, "OK", 3, position=1),
        lag_event(group, at, "ERR", 9, **ill),
        lag_event(group, at, "ERR", 9, part=1, **ill),
    ]


def _of_both(group: str) -> NotificationEvent:
    """A delivery about the group's incident, late since before it stopped, that tells of both."""
    late, stopped = f"{FRESHNESS_CHANGED}-{group}", f"{STATUS_CHANGED}-{group}"
    told = delivery(group, START + 2 * MINUTE + 500, "ERR", 1, late)
    return told.model_copy(update={"conditions": [late, stopped]})


def status_change(
    group: str, at: int, status: str, previous: str, incident: str, **more: Any
) -> StatusChangeEvent:
    return StatusChangeEvent.model_validate(
        {
            "id": f"{group}-{at}",
            "source": "/warren/clusters/prod",
            "subject": group,
            "time": datetime.fromtimestamp(at / 1000, UTC).isoformat(),
            "data": {
                "cluster": "prod",
                "group": group,
                "status": status,
                "previous": previous,
                "reason": None if status == "OK" else "no_commit",
                "incident_id": incident,
                "opened_at": START,
                "total_lag": at % 1000 + len(status),
                "max_lag": None,
                "partition_counts": {"OK": 3, "STOP": len(status)},
                "partitions": [],
                "partitions_omitted": len(status),
                **more,
            },
        }
    )


def delivery(group: str, at: int, status: str, number: int, incident: str) -> NotificationEvent:
    return NotificationEvent.model_validate(
        {
            "cluster": "prod",
            "group": group,
            "delivery_id": f"{group}-{number}",
            "event_id": f"{group}-{at}",
            "incident_id": incident,
            "kind": "opened",
            "status": status,
            "route": "all",
            "channel": "mail" if number else "hook",
            "attempt": 1,
            "at": at,
            "outcome": "delivered" if number else "failed",
            "detail": "250 ok",
        }
    )


def _log_ends() -> Iterator[tuple[int, TopicsEvent]]:
    for step in range(40):
        at = START + step * 20_000 + (SILENCE if step > 30 else 0)
        ends = {"orders": [step * 7, -1 if step == 5 else step], "idle": [3]}
        if step > 20:
            ends["orders"].append(step)
        yield at, TopicsEvent(cluster="prod", observed_at=at, log_ends=ends)
