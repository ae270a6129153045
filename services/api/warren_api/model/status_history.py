"""The newest status changes of all groups, in memory, as `warren.lag-status` has them.

Bounded: the oldest go when there are more than the limit. Fed by one thread, read by many. Where a
change is on the topic (partition and offset) is what event streams resume by: it is the same in
every copy of the API and after every restart.
"""

from __future__ import annotations

import threading
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import EventTypeName, StatusChange, StatusChangeEvent

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

    def take(self, partition: int, offset: int, value: bytes, key: bytes | None) -> None:
        """Adds a record of the topic, unless it is there already.

        Raises ContractViolation when it is no status-change event; it then counts as read.
        """
        with self._lock:
            if offset < self._next.get(partition, 0):
                return
            self._next[partition] = offset + 1
            self._known_from.setdefault(partition, offset)
        event = StatusChangeEvent.from_record(key, value)
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
