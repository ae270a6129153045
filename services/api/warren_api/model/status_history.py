"""The newest status changes of all groups, in memory, as `warren.lag-status` has them, and the
incidents that they make up: the times during which a group was not OK.

Bounded: the oldest go when there are more than the limit. Fed by one thread, read by many. Where a
change is on the topic (partition and offset) is what event streams resume by: it is the same in
every copy of the API and after every restart.
"""

from __future__ import annotations

import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from warren.contracts import (
    STATUS_CHANGED,
    EventTypeName,
    GroupStatusName,
    Status,
    StatusChange,
    StatusChangeEvent,
)
from warren.words import LOST_RECORDS

from warren_api.model.group import GroupView
from warren_api.model.past import Past

_PACK_FROM = 1024  # bytes; smaller values are kept as they are

Positions = Mapping[int, int]
"""By partition of the topic, the offset of the record that comes next."""


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """One status change; `sequence` counts within this process only. Times in Unix milliseconds."""

    sequence: int
    partition: int
    offset: int
    id: str
    type: EventTypeName
    at: int
    change: StatusChange
    _packed: bytes
    _is_compressed: bool

    @property
    def value(self) -> bytes:
        """The event as it stands on the topic."""
        return zlib.decompress(self._packed) if self._is_compressed else self._packed


class Resumption(NamedTuple):
    """What a reader that stopped somewhere has missed, and where it then stands.

    `is_complete`: this is all; else some of it is forgotten, or it is not known where it stopped.
    """

    missed: tuple[RecordedChange, ...]
    is_complete: bool
    sequence: int
    positions: dict[int, int]


class StatusHistory:
    """At most `limit` changes, oldest first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._log: deque[RecordedChange] = deque()
        self._next: dict[int, int] = {}  # offset after the newest that was taken, by partition
        self._known_from: dict[int, int] = {}  # from here on nothing is missing, by partition
        self.sequence = 0
        """Number of the newest change: another one whenever there was one."""
        self._listeners: set[Callable[[], None]] = set()
        self.is_closed = False

    def take(self, partition: int, offset: int, value: bytes) -> None:
        """Adds a record of the topic, unless it is there already.

        Raises ContractViolation when it is no status-change event; it then counts as read.
        """
        with self._lock:
            if offset < self._next.get(partition, 0):
                return
            self._next[partition] = offset + 1
            self._known_from.setdefault(partition, offset)
        event = StatusChangeEvent.from_bytes(value)
        compress = len(value) >= _PACK_FROM
        with self._lock:
            self.sequence += 1
            self._log.append(
                RecordedChange(
                    self.sequence,
                    partition,
                    offset,
                    event.id,
                    event.type,
                    round(event.time.timestamp() * 1000),
                    # The listed partitions are in the value; kept twice they would be most of it.
                    event.data.model_copy(update={"partitions": []}),
                    zlib.compress(value, 1) if compress else value,
                    compress,
                )
            )
            if len(self._log) > self.limit:
                dropped = self._log.popleft()
                self._known_from[dropped.partition] = dropped.offset + 1
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()

    def begin_again(self, newest: Positions) -> None:
        """The topic is read once more; `newest` are the offsets of its newest records.

        Where they are smaller than what was read before, the topic is another one.
        """
        with self._lock:
            for partition, offset in newest.items():
                if offset + 1 < self._next.get(partition, 0):
                    del self._next[partition]
                    self._known_from.pop(partition, None)

    def changes(self) -> tuple[RecordedChange, ...]:
        """All of them, in the order in which they were read."""
        with self._lock:
            return tuple(self._log)

    def of_group(self, cluster: str, group: str) -> tuple[RecordedChange, ...]:
        """Those of a group, newest first."""
        mine = (r for r in self.changes() if (r.change.cluster, r.change.group) == (cluster, group))
        return tuple(sorted(mine, key=lambda recorded: (recorded.at, recorded.offset)))[::-1]

    def after(self, sequence: int) -> tuple[RecordedChange, ...]:
        """Those that came after the one with this number, oldest first."""
        found: list[RecordedChange] = []
        with self._lock:
            for recorded in reversed(self._log):
                if recorded.sequence <= sequence:
                    break
                found.append(recorded)
        return tuple(reversed(found))

    def resume(self, positions: Positions | None) -> Resumption:
        """What a reader at `positions` has missed; nothing when they are not known."""
        with self._lock:
            if positions is None:
                return Resumption((), False, self.sequence, dict(self._next))
            missed = tuple(r for r in self._log if r.offset >= positions.get(r.partition, 0))
            is_complete = all(
                known_from <= positions.get(partition, 0)
                for partition, known_from in self._known_from.items()
            ) and all(
                # Further than the topic goes: it is not the one that the reader has read.
                offset <= self._next.get(partition, offset)
                for partition, offset in positions.items()
            )
            return Resumption(missed, is_complete, self.sequence, dict(self._next))

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` after each change, in the thread that reads; returns how to end that."""
        with self._lock:
            self._listeners.add(listener)

        def end() -> None:
            with self._lock:
                self._listeners.discard(listener)

        return end

    def close(self) -> None:
        """The service ends: readers that wait for more are told."""
        self.is_closed = True
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()


CLOSED: tuple[GroupStatusName, ...] = ("OK", "NOTFOUND")


@dataclass(frozen=True, slots=True)
class IncidentRecord:
    """One incident, of a condition, or of a group with its conditions, the root first. `changes`:
    those that are remembered, oldest first; the opening one may be forgotten already. Times in Unix
    milliseconds.
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
    conditions: tuple[IncidentRecord, ...] = ()
    lost_now: int = 0
    """Records lost by now, of one that is open: see `as_seen`."""

    def as_seen(self, view: GroupView | None, past: Past) -> Self:
        """Add what no change tells: its minutes, as far as kept, and now, where it is open.

        `view`: its group as it is now.
        """
        lags = [self.max_total_lag, past.largest_lag(*self.name, self.opened_at, self._seen_until)]
        if view is None or not self.is_open:
            return replace(self, max_total_lag=max(lags))
        lags.append(view.event.total_lag)
        return replace(self, max_total_lag=max(lags), lost_now=view.lost_records)

    @property
    def _seen_until(self) -> int | None:
        """None: until now. Of one whose end no event tells its last change."""
        if self.is_open or self.closed_at is not None:
            return self.closed_at
        return self.changes[-1].at if self.changes else self.opened_at

    @property
    def name(self) -> tuple[str, str]:
        """Cluster and group."""
        return self.cluster, self.group

    @property
    def ids(self) -> list[str]:
        """Its own, and those of its conditions, by which it may have been told or acknowledged."""
        return list(dict.fromkeys([self.id, *(one.id for one in self.conditions)]))

    @property
    def lost_records(self) -> int | None:
        """What retention has deleted unread in all, as told or seen by now; None: nothing."""
        passed = lasting = 0
        for part in self.conditions or [self]:
            told = _losses(part)
            if told and part.is_open and _counts(part.changes[-1]):
                lasting = told.pop()
            passed += sum(told)
        return passed + max(lasting, self.lost_now) or None

    @property
    def status(self) -> GroupStatusName:
        """The worst that is open, as was told last; of one that is over the worst of all."""
        last = [
            one.changes[-1].change.status if one.changes else one.worst
            for one in self.conditions or [self]
            if one.is_open
        ]
        return max(last, key=_badness, default=self.worst)


def _losses(incident: IncidentRecord) -> list[int]:
    """How many records were lost each time, of one condition, in their order."""
    found, is_new = list[int](), True
    for recorded in incident.changes:
        counts = _counts(recorded)
        if counts and is_new:
            found.append(0)
        if counts:
            found[-1] = max(found[-1], *counts)
        is_new = not counts
    return found


def _counts(recorded: RecordedChange) -> list[int]:
    """Lost records that a change tells of."""
    breaches = recorded.change.objectives or ()
    return [round(one.value) for one in breaches if one.limit == LOST_RECORDS and one.value]


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
        untold
        for view in views.values()
        for untold in _open_conditions(view)
        if untold.id not in by_id
    ]
    return sorted(found, key=lambda incident: (-incident.opened_at, incident.id))


def _from_changes(
    id_: str, told: list[RecordedChange], views: dict[tuple[str, str], GroupView]
) -> IncidentRecord:
    told = sorted(told, key=lambda recorded: (recorded.at, recorded.offset))
    last = told[-1]
    change = last.change
    view = views.get((change.cluster, change.group))
    has_end = change.status in CLOSED
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


def _open_conditions(view: GroupView) -> Iterator[IncidentRecord]:
    """What is open, as the newest events say, without the changes that are remembered of it."""
    if incident := view.event.incident:
        worst = view.event.status
        yield _untold(view, incident.id, STATUS_CHANGED, incident.opened_at, worst)
    worst_of = {broken.incident_id: broken for broken in reversed(view.broken)}
    for broken in worst_of.values():
        breach = broken.breach
        yield _untold(view, broken.incident_id, broken.type, breach.since, breach.status)


def _untold(
    view: GroupView, id_: str, type_: EventTypeName, opened_at: int, worst: GroupStatusName
) -> IncidentRecord:
    return IncidentRecord(
        id=id_,
        type=type_,
        cluster=view.cluster,
        group=view.group,
        opened_at=opened_at,
        closed_at=None,
        is_open=True,
        worst=worst,
        max_total_lag=view.event.total_lag,
        changes=(),
    )


_BADNESS = {status.name: int(status) for status in Status}


def _badness(status: GroupStatusName) -> int:
    return _BADNESS[status]
