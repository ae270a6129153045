"""Incidents of groups, as `warren.incidents` has them, in memory. Every page, list and answer has a
group's incident from here.

Bounded: the oldest that are over go when there are more than the limit. Fed by one thread, read by
many.
"""

import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from warren.contracts import (
    Condition,
    EventTypeName,
    GroupIncident,
    GroupIncidentEvent,
    GroupStatusName,
)
from warren_core.group_incident import lost_by_now, replaced, short, with_changes

from warren_api.model.group import GroupView
from warren_api.model.status_history import RecordedChange

Name = tuple[str, str]
"""Cluster and group."""


@dataclass(frozen=True, slots=True)
class IncidentRecord:
    """One incident: `data` as its newest event has it; `changes`: status changes of it that are
    remembered, oldest first. Times in Unix milliseconds.
    """

    data: GroupIncident
    changes: tuple[RecordedChange, ...] = ()
    max_total_lag: int = 0
    lost_now: int = 0
    """Records lost by now, of one that is open: see `as_seen`."""

    @classmethod
    def of(cls, data: GroupIncident, changes: Iterable[RecordedChange]) -> Self:
        return cls(data, tuple(changes), data.max_total_lag)

    def as_seen(self, view: GroupView | None) -> Self:
        """Add what no change tells: how it is now, where it is open. `view`: its group, now."""
        if view is None or not self.is_open:
            return self
        largest = max(self.max_total_lag, view.event.total_lag)
        return replace(self, max_total_lag=largest, lost_now=view.lost_records)

    @property
    def id(self) -> str:
        return self.data.incident_id

    @property
    def ids(self) -> list[str]:
        """Its own, and those of its conditions, by which it may have been told or acknowledged."""
        return self.data.ids

    @property
    def name(self) -> Name:
        return self.data.cluster, self.data.group

    @property
    def cluster(self) -> str:
        return self.data.cluster

    @property
    def group(self) -> str:
        return self.data.group

    @property
    def opened_at(self) -> int:
        return self.data.opened_at

    @property
    def closed_at(self) -> int | None:
        return self.data.closed_at

    @property
    def is_open(self) -> bool:
        return self.data.is_open

    @property
    def conditions(self) -> list[Condition]:
        """Open ones first, the root before what follows from it."""
        return [*self.data.open, *self.data.over]

    @property
    def type(self) -> EventTypeName:
        """Of the root."""
        return self.conditions[0].type

    @property
    def worst(self) -> GroupStatusName:
        return self.data.worst

    @property
    def status(self) -> GroupStatusName:
        """The worst that is open, as was told last; of one that is over the worst of all."""
        return self.data.status if self.is_open else self.data.worst

    @property
    def lost_records(self) -> int | None:
        """What retention has deleted unread in all, as told or seen by now; None: nothing."""
        return lost_by_now(self.data, self.lost_now) or None


class IncidentLog:
    """The newest events of open incidents, at most one of each group, and of at most `limit` that
    are over. Without partitions: the newest evaluation has them.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._known: dict[tuple[Name, str], GroupIncident] = {}
        self._open: dict[Name, GroupIncident] = {}
        self.sequence = 0
        """Another number whenever there was a change."""

    def take(self, key: bytes | None, value: bytes | None) -> GroupIncident | None:
        """Takes a record of the topic, and gives its incident; None for an older event.

        Raises ContractViolation when it is no event of its key's group.
        """
        event = GroupIncidentEvent.from_record(key, value)
        data, name = event.data, event.about
        with self._lock:
            before = self._known.get((name, data.incident_id))
            if before is not None and before.revision >= data.revision:
                return None
            other = self._open.get(name)
            if other is not None and other.incident_id != data.incident_id:
                if data.opened_at < other.opened_at and data.is_open:
                    return None
                if data.is_open:  # its end was not seen
                    self._keep(replaced(other, data.changed_at))
            self._keep(with_changes(data, short))
            self.sequence += 1
            if len(self._known) > 2 * self._limit:
                self._forget()
        return data

    def keep_only(self, groups: Iterable[Name]) -> None:
        """Drops open ones of groups that a complete reading of the topic did not show."""
        known = set(groups)
        with self._lock:
            for name, data in list(self._open.items()):
                if name not in known:
                    del self._open[name], self._known[name, data.incident_id]
            self._forget()
            self.sequence += 1

    def all(self) -> list[GroupIncident]:
        """Newest first."""
        with self._lock:
            found = list(self._known.values())
        return sorted(found, key=lambda data: (-data.opened_at, data.incident_id))

    def _keep(self, data: GroupIncident) -> None:
        name = data.cluster, data.group
        self._known[name, data.incident_id] = data
        if data.is_open:
            self._open[name] = data
        elif name in self._open and self._open[name].incident_id == data.incident_id:
            del self._open[name]

    def _forget(self) -> None:
        over = [(data.changed_at, key) for key, data in self._known.items() if not data.is_open]
        for _, key in sorted(over)[: max(len(over) - self._limit, 0)]:
            del self._known[key]


class KnownIncidents(NamedTuple):
    """Incidents of groups, as of one moment: all that are remembered or open, newest first."""

    all: Sequence[IncidentRecord]
    by_group: Mapping[Name, IncidentRecord]
    """Those that are open."""

    @classmethod
    def of(cls, incidents: Sequence[GroupIncident], changes: Iterable[RecordedChange]) -> Self:
        """`incidents`: newest first. A change is of the incident that has its id, else of the
        newest that had begun.
        """
        by_id = {(data.cluster, data.group, id_): data for data in incidents for id_ in data.ids}
        begun: defaultdict[Name, list[GroupIncident]] = defaultdict(list)
        for data in reversed(incidents):
            begun[data.cluster, data.group].append(data)
        told: defaultdict[tuple[Name, str], list[RecordedChange]] = defaultdict(list)
        for each in changes:
            name = each.change.cluster, each.change.group
            mine = by_id.get((*name, each.change.incident_id))
            if mine is None and (known := begun.get(name)):
                place = bisect_right(known, each.at, key=lambda data: data.opened_at)
                mine = known[place - 1] if place else None
            if mine is not None:
                told[name, mine.incident_id].append(each)
        for of_one in told.values():
            of_one.sort(key=lambda each: (each.at, each.offset))
        known_ones = [
            IncidentRecord.of(data, told.get(((data.cluster, data.group), data.incident_id), ()))
            for data in incidents
        ]
        return cls(known_ones, {one.name: one for one in known_ones if one.is_open})

    def open_of(self, cluster: str, group: str) -> IncidentRecord | None:
        """None while nothing is wrong with it."""
        return self.by_group.get((cluster, group))
