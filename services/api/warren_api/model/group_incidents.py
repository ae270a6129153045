"""A group's incidents, folded from those of its conditions: from the first that opens to the last
that ends, in the order of their log, as the notifier tells people of them. Every page, list and
answer has a group's incident from here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple, Self

from warren.contracts import (
    CONDITIONS,
    STATUS_CHANGED,
    Status,
)

from warren_api.model.group import GroupView
from warren_api.model.status_history import (
    CLOSED,
    IncidentRecord,
    RecordedChange,
    incidents,
)


def group_incidents(
    changes: Iterable[RecordedChange], groups: Iterable[GroupView]
) -> list[IncidentRecord]:
    """All that are remembered or open, newest first, each with its conditions."""
    by_group: defaultdict[tuple[str, str], list[IncidentRecord]] = defaultdict(list)
    for each in incidents(changes, groups):
        by_group[each.name].append(each)
    found = [one for known in by_group.values() for one in _folded(known)]
    return sorted(found, key=lambda incident: (-incident.opened_at, incident.id))


class KnownIncidents(NamedTuple):
    """Incidents of groups, as of one moment: all that are remembered or open, newest first."""

    all: Sequence[IncidentRecord]
    by_group: Mapping[tuple[str, str], IncidentRecord]
    """Those that are open."""
    is_settled: bool
    """Whether evaluations have all that is open; else the next one may end some of it, silently."""

    @classmethod
    def of(cls, changes: Iterable[RecordedChange], groups: Sequence[GroupView]) -> Self:
        known = group_incidents(changes, groups)
        by_group = {one.name: one for one in known if one.is_open}
        judged = {view.event.incident.id for view in groups if view.event.incident}
        open_ones = (one for incident in by_group.values() for one in incident.conditions)
        told = {one.id for one in open_ones if one.is_open and one.type == STATUS_CHANGED}
        return cls(known, by_group, told <= judged)

    def open_of(self, cluster: str, group: str) -> IncidentRecord | None:
        """None while nothing is wrong with it."""
        return self.by_group.get((cluster, group))


def _folded(known: Iterable[IncidentRecord]) -> list[IncidentRecord]:
    found: list[list[IncidentRecord]] = []
    until: float = -inf
    for each in sorted(known, key=lambda one: (_began(one), one.opened_at)):
        if found and _began(each) < until:
            found[-1].append(each)
        else:
            found.append([each])
            until = -inf
        until = max(until, _ended(each))
    return [_as_one(conditions) for conditions in found]


def _began(incident: IncidentRecord) -> int:
    """Offset of its opening; -1: it was open before what is remembered."""
    first = incident.changes[0] if incident.changes else None
    return first.offset if first is not None and first.change.previous in CLOSED else -1


def _ended(incident: IncidentRecord) -> float:
    """Offset of what is known of it last; without an end for one that is open."""
    if incident.is_open:
        return inf
    return incident.changes[-1].offset if incident.changes else -1


def _as_one(conditions: Sequence[IncidentRecord]) -> IncidentRecord:
    """`conditions`: the first that opened gives the id."""
    first = conditions[0]
    in_order = sorted(conditions, key=lambda one: (not one.is_open, CONDITIONS.index(one.type)))
    ends = [one.closed_at for one in conditions]
    is_open = any(one.is_open for one in conditions)
    known = [] if is_open else [at for at in ends if at is not None]
    changes = [change for one in conditions for change in one.changes]
    return replace(
        first,
        type=in_order[0].type,
        opened_at=min(one.opened_at for one in conditions),
        closed_at=max(known) if len(known) == len(ends) else None,
        is_open=is_open,
        worst=max((one.worst for one in conditions), key=lambda status: Status[status]),
        max_total_lag=max(one.max_total_lag for one in conditions),
        changes=tuple(sorted(changes, key=lambda change: (change.at, change.offset))),
        conditions=tuple(in_order),
    )
