"""Incidents: the times during which a group was not OK, put together from its status changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warren.contracts import STATUS_CHANGED, EventTypeName, GroupStatusName, Status

from warren_api.model.group import GroupView
from warren_api.model.status_history import RecordedChange

_CLOSED: tuple[GroupStatusName, ...] = ("OK", "NOTFOUND")


@dataclass(frozen=True, slots=True)
class IncidentRecord:
    """One incident. `changes`: those that are remembered, oldest first; the opening one may be
    forgotten already. Times in Unix milliseconds.
    """

    id: str
    type: EventTypeName
    cluster: str
    group: str
    opened_at: int
    closed_at: int | None
    is_open: bool
    worst: GroupStatusName
    max_total_lag: int
    changes: tuple[RecordedChange, ...]


def incidents(
    changes: Iterable[RecordedChange], groups: Iterable[GroupView]
) -> list[IncidentRecord]:
    """All that are remembered or open, newest first. The group's newest evaluation says which is
    open, unless a change is newer than it; of objectives the newest change does.
    """
    views = {(view.cluster, view.group): view for view in groups}
    by_id: dict[str, list[RecordedChange]] = {}
    for recorded in changes:
        by_id.setdefault(recorded.change.incident_id, []).append(recorded)
    found = [_from_changes(id_, told, views) for id_, told in by_id.items()]
    found += [
        _untold(view)
        for view in views.values()
        if view.event.incident and view.event.incident.id not in by_id
    ]
    return sorted(found, key=lambda incident: (-incident.opened_at, incident.id))


def _from_changes(
    id_: str, told: list[RecordedChange], views: dict[tuple[str, str], GroupView]
) -> IncidentRecord:
    told = sorted(told, key=lambda recorded: (recorded.at, recorded.offset))
    last = told[-1]
    change = last.change
    view = views.get((change.cluster, change.group))
    has_end = change.status in _CLOSED
    return IncidentRecord(
        id=id_,
        type=last.type,
        cluster=change.cluster,
        group=change.group,
        opened_at=change.opened_at,
        closed_at=last.at if has_end else None,
        is_open=not has_end and view is not None and _is_still_open(id_, last, view),
        worst=max((recorded.change.status for recorded in told), key=_badness),
        max_total_lag=max(recorded.change.total_lag for recorded in told),
        changes=tuple(told),
    )


def _is_still_open(id_: str, last: RecordedChange, view: GroupView) -> bool:
    if last.type != STATUS_CHANGED:
        return True
    if view.event.incident:
        return view.event.incident.id == id_
    return view.event.evaluated_at <= last.at


def _untold(view: GroupView) -> IncidentRecord:
    """An open incident of which no change is remembered."""
    incident = view.event.incident
    assert incident is not None
    return IncidentRecord(
        id=incident.id,
        type=STATUS_CHANGED,
        cluster=view.cluster,
        group=view.group,
        opened_at=incident.opened_at,
        closed_at=None,
        is_open=True,
        worst=view.event.status,
        max_total_lag=view.event.total_lag,
        changes=(),
    )


def _badness(status: GroupStatusName) -> int:
    return int(Status[status])
