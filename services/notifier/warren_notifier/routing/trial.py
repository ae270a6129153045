"""Tests of a route: an incident that there is not, and its end. Pure."""

from dataclasses import replace
from datetime import UTC, datetime

from warren.contracts import (
    STATUS_CHANGED,
    TEST_CLUSTER,
    EventTypeName,
    GroupIncidentEvent,
    GroupStatusName,
    NotificationTest,
    StatusChange,
    StatusChangeEvent,
)
from warren.settings.notifier import RouteSettings
from warren_core.group_incident import fold

from warren_notifier.routing.change import Change, change_of
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.routes import Route

DEADLINE_MS = 60_000  # whoever asked waits
_GROUP = "test of route "


def opening(test: NotificationTest, now: int) -> Change:
    """What is told first. It says everywhere that it is a test."""
    why = f"this is a test, asked for by {test.by}: nothing is wrong"
    group = f"{_GROUP}{test.route}"
    return _folded(None, _status_change(TEST_CLUSTER, group, "ERR", test.incident_id, now, why))


def change(cluster: str, group: str, status: GroupStatusName, event_type: EventTypeName) -> Change:
    """One that a group might have, with one condition."""
    opens: GroupStatusName = "ERR" if status == "OK" else status
    first = _status_change(cluster, group, opens, "", 0, type_=event_type)
    found = _folded(None, first)
    if status != "OK":
        return found
    return _folded(found.event, _status_change(cluster, group, status, "", 1, type_=event_type))


def closing(of: Change, now: int) -> Change:
    """Its end."""
    end = _status_change(*of.subject, "OK", of.incident_id, now)
    return _folded(of.event, end)


def router(known: Router, route: Route) -> Router:
    """Tells all channels of the route at once and alone, whatever it is for."""
    wide = Route(
        RouteSettings(name=route.name, channels=[*route.channels], group_wait=0),
        is_test=True,
    )
    grouping = replace(known.grouping, routes=[wide], digesting=())
    return replace(known, routes=[wide], deadline_ms=DEADLINE_MS, grouping=grouping)


def _folded(known: GroupIncidentEvent | None, by: StatusChangeEvent) -> Change:
    event = fold(known, by)
    if event is None:
        raise TypeError("a test opens an incident, and ends it")
    return change_of(event)


def _status_change(
    cluster: str,
    group: str,
    status: GroupStatusName,
    incident_id: str,
    at: int,
    why: str | None = None,
    type_: EventTypeName = STATUS_CHANGED,
) -> StatusChangeEvent:
    return StatusChangeEvent(
        id=f"{incident_id}-{status}",
        source=f"/warren/clusters/{cluster}",
        type=type_,
        subject=group,
        time=datetime.fromtimestamp(at / 1000, UTC),
        data=StatusChange(
            cluster=cluster,
            group=group,
            status=status,
            previous="OK",
            explanation=why,
            incident_id=incident_id,
            opened_at=at,
            total_lag=0,
            max_lag=None,
            partition_counts={},
            partitions=[],
        ),
    )
