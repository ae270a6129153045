"""Tests of a route: an incident that there is not, and its end. Pure."""

from dataclasses import replace
from datetime import UTC, datetime

from warren.contracts import TEST_CLUSTER, NotificationTest, StatusChange, StatusChangeEvent
from warren.settings.notifier import RouteSettings

from warren_notifier.routing.change import Change, read_change
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.group_incident import after, incident_of
from warren_notifier.routing.routes import Route

DEADLINE_MS = 60_000  # whoever asked waits
_GROUP = "test of route "


def opening(test: NotificationTest, now: int) -> Change:
    """What is told first. It says everywhere that it is a test."""
    return _change(test.route, "ERR", "OK", test.incident_id, test.by, now, now)


def closing(of: Change, now: int) -> Change:
    """Its end."""
    route = of.subject.group.removeprefix(_GROUP)
    end = _change(route, "OK", "ERR", of.incident_id, "", of.opened_at, now)
    return (after(incident_of(of), [], end) or end) if of.subject.is_whole else end


def router(known: Router, route: Route) -> Router:
    """Tells all channels of the route at once and alone, whatever it is for."""
    wide = Route(
        RouteSettings(name=route.name, channels=[*route.channels], group_wait=0),
        is_test=True,
    )
    grouping = replace(known.grouping, routes=[wide], digesting=())
    return replace(known, routes=[wide], deadline_ms=DEADLINE_MS, grouping=grouping)


def _change(
    route: str, status: str, previous: str, incident_id: str, by: str, opened_at: int, now: int
) -> Change:
    data = StatusChange(
        cluster=TEST_CLUSTER,
        group=f"{_GROUP}{route}",
        status=status,  # type: ignore[arg-type]  # ERR or OK
        previous=previous,  # type: ignore[arg-type]
        explanation=f"this is a test, asked for by {by}: nothing is wrong" if by else None,
        incident_id=incident_id,
        opened_at=opened_at,
        total_lag=0,
        max_lag=None,
        partition_counts={},
        partitions=[],
    )
    event = StatusChangeEvent(
        id=f"{incident_id}-{status}",
        source=f"/warren/clusters/{TEST_CLUSTER}",
        subject=data.group,
        time=datetime.fromtimestamp(now / 1000, UTC),
        data=data,
    )
    change = read_change(event.to_bytes())
    if change is None:
        raise TypeError("a test is a change of a status")
    return change
