"""Incidents of groups, as `warren.incidents` has them, in memory. Every page, list and answer has a
group's incident from here.

Bounded: the oldest that are over go when there are more than the limit. Fed by one thread, read by
many.
"""

import threading
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
    split_group_key,
)
from warren.errors import ContractViolation

from warren_api.model.group import GroupView
from warren_api.model.past import Past
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

    def as_seen(self, view: GroupView | None, past: Past) -> Self:
        """Add what no change tells: its minutes, as far as kept, and now, where it is open.

        `view`: its group as it is now.
        """
        until = self.closed_at
        lags = [self.max_total_lag, past.largest_lag(*self.name, self.opened_at, until)]
        if view is None or not self.is_open:
            return replace(self, max_total_lag=max(lags))
        lags.append(view.event.total_lag)
        return replace(self, max_total_lag=max(lags), lost_now=view.lost_records)

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
        lasting = self.data.lost_records - self.data.lost_before
        return self.data.lost_before + max(lasting, self.lost_now) or None


class IncidentLog:
    """The newest events of open incidents, and of at most `limit` that are over."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._by_id: dict[str, GroupIncident] = {}
        self.sequence = 0
        """Another number whenever there was a change."""

    def take(self, key: bytes | None, value: bytes | None) -> GroupIncident:
        """Takes a record of the topic, and gives its incident; an older event changes nothing.

        Raises ContractViolation when it is no event of its key's group.
        """
        data = GroupIncidentEvent.from_bytes(value).data
        if split_group_key(key) != (data.cluster, data.group):
            raise ContractViolation("key and value name different groups")
        if not data.conditions:
            raise ContractViolation("data.conditions: none")
        with self._lock:
            before = self._by_id.get(data.incident_id)
            if before is None or before.changed_at <= data.changed_at:
                self._by_id[data.incident_id] = data
                self.sequence += 1
            if len(self._by_id) > 2 * self._limit:
                self._forget()
        return data

    def keep_only(self, groups: Iterable[Name]) -> None:
        """Drops open ones of groups that a complete reading of the topic did not show."""
        known = set(groups)
        with self._lock:
            for id_, data in list(self._by_id.items()):
                if data.is_open and (data.cluster, data.group) not in known:
                    del self._by_id[id_]
            self._forget()
            self.sequence += 1

    def all(self) -> list[GroupIncident]:
        """Newest first."""
        with self._lock:
            found = list(self._by_id.values())
        return sorted(found, key=lambda data: (-data.opened_at, data.incident_id))

    def _forget(self) -> None:
        over = [data for data in self._by_id.values() if not data.is_open]
        over.sort(key=lambda data: data.changed_at)
        for data in over[: max(len(over) - self._limit, 0)]:
            del self._by_id[data.incident_id]


class KnownIncidents(NamedTuple):
    """Incidents of groups, as of one moment: all that are remembered or open, newest first."""

    all: Sequence[IncidentRecord]
    by_group: Mapping[Name, IncidentRecord]
    """Those that are open."""

    @classmethod
    def of(cls, incidents: Sequence[GroupIncident], changes: Iterable[RecordedChange]) -> Self:
        """`incidents`: newest first."""
        of_group: defaultdict[Name, list[RecordedChange]] = defaultdict(list)
        for each in changes:
            of_group[each.change.cluster, each.change.group].append(each)
        known = []
        for data in reversed(incidents):  # a change is of the first that it can be of
            mine = of_group[data.cluster, data.group]
            is_of_it = [
                data.opened_at <= each.at and (data.closed_at is None or each.at <= data.closed_at)
                for each in mine
            ]
            told = [each for each, is_so in zip(mine, is_of_it, strict=True) if is_so]
            rest = [each for each, is_so in zip(mine, is_of_it, strict=True) if not is_so]
            of_group[data.cluster, data.group] = rest
            told.sort(key=lambda each: (each.at, each.offset))
            known.append(IncidentRecord.of(data, told))
        known.reverse()
        return cls(known, {one.name: one for one in known if one.is_open})

    def open_of(self, cluster: str, group: str) -> IncidentRecord | None:
        """None while nothing is wrong with it."""
        return self.by_group.get((cluster, group))
