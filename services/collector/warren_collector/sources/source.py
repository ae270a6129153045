"""What a source is to the stack: a stream of batches, and partitions that are this collector's.

And the partitions of the offsets topic that this collector owns, and how far each was read.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from warren.errors import KafkaError
from warren_wire.committed_offsets import TopicOffsets
from warren_wire.records import Malformed


@dataclass(slots=True)
class SourcePartition:
    """One owned partition. All numbers but its own are offsets of the offsets topic.

    `count_from`: records below it were published before, or are older than the first collector;
    they only rebuild state. `end` is the one seen at assignment: from there the partition is live.
    `stored` is the position that was committed or sent last, None if there is none or its commit
    failed; `open_from` the first record of transactions that are open at `position`, None if none
    is. `waits_at`: where the broker had nothing more that read_committed shows.
    """

    number: int
    count_from: int
    end: int
    stored: int | None
    position: int = 0
    is_live: bool = False
    open_from: int | None = None
    waits_at: int = -1

    def advance(self, position: int) -> None:
        self.position = max(self.position, position)
        self.is_live = self.is_live or self.position >= self.end

    def reach_end(self, position: int) -> None:
        """The broker has nothing beyond `position`."""
        self.advance(position)
        self.is_live = True
        # What is read later was not there at assignment.
        self.count_from = min(self.count_from, self.position)


def assigned(
    number: int, stored: int | None, end: int, open_from: int | None = None
) -> SourcePartition:
    """A partition that has just been assigned; one without records is live at once.

    `open_from` is what was stored with the position.
    """
    # A stored position beyond the end is of a topic that has been created anew since.
    if stored is not None and stored > end:
        stored, open_from = end, None
    count_from = end if stored is None else stored
    return SourcePartition(number, count_from, end, stored, is_live=end == 0, open_from=open_from)


def open_from_text(open_from: int | None) -> str:
    """What is stored beside a position, for the next owner of the partition."""
    return "" if open_from is None else f"open_from={open_from}"


def open_from_of(metadata: str | None) -> int | None:
    """What `open_from_text` has written."""
    name, _, number = (metadata or "").partition("=")
    return int(number) if name == "open_from" and number.isdecimal() else None


class SourcePartitions:
    """All owned partitions, by number."""

    def __init__(self) -> None:
        self._owned: dict[int, SourcePartition] = {}

    def __len__(self) -> int:
        return len(self._owned)

    def __iter__(self) -> Iterator[SourcePartition]:
        return iter(self._owned.values())

    def get(self, number: int) -> SourcePartition | None:
        return self._owned.get(number)

    def add(self, partition: SourcePartition) -> None:
        self._owned[partition.number] = partition

    def remove(self, number: int) -> None:
        self._owned.pop(number, None)

    def live(self) -> dict[int, int]:
        """Positions of the live partitions, by number."""
        return {p.number: p.position for p in self if p.is_live}

    @property
    def are_live(self) -> bool:
        return all(partition.is_live for partition in self)

    def owned(self, partitions: NDArray[np.int32]) -> NDArray[np.bool_] | None:
        """Which records are of owned partitions; None when all are, which is usual."""
        flags = self._by_number(0, partitions)
        for partition in self:
            flags[partition.number] = 1
        owned: NDArray[np.bool_] = flags[partitions] == 1
        return None if owned.all() else owned

    def counted(
        self, partitions: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Which records count; None when all do. Call before `advance`."""
        rebuilding = [partition for partition in self if partition.position < partition.count_from]
        if not rebuilding:
            return None
        thresholds = self._by_number(0, partitions)
        for partition in rebuilding:
            thresholds[partition.number] = partition.count_from
        counted: NDArray[np.bool_] = offsets >= thresholds[partitions]
        return counted

    def first(
        self, partitions: NDArray[np.int32], counted: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_] | None:
        """Which of the records that do not count are of partitions that no collector has read
        before; None when none are. Call before `advance`.
        """
        if counted is None:
            return None
        never_read = self._by_number(0, partitions)
        for partition in self:
            never_read[partition.number] = partition.stored is None
        first: NDArray[np.bool_] = (never_read[partitions] == 1) & ~counted
        return first if first.any() else None

    def advance(self, partitions: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        """Records were read; of each partition the last one counts."""
        last = self._by_number(-1, partitions)
        last[partitions] = offsets
        for partition in self:
            if last[partition.number] >= 0:
                partition.advance(int(last[partition.number]) + 1)

    def behind(self) -> int:
        """Offsets between the positions of partitions that are not live and their ends."""
        return sum(max(p.end - p.position, 0) for p in self if not p.is_live)

    def _by_number(self, fill: int, partitions: NDArray[np.int32]) -> NDArray[np.int64]:
        """A column with an entry for each owned partition and each that is mentioned."""
        owned = max((partition.number for partition in self), default=-1)
        mentioned = int(partitions.max(initial=-1))
        return np.full(max(owned, mentioned) + 1, fill, np.int64)


@dataclass(frozen=True, slots=True)
class Batch:
    """Records in the order of the log (within each partition); one entry per record.

    `counted` says which ones are commits to publish: the others, older than what the collectors
    have published already, only rebuild state. None: all are counted. Of those others, `first` are
    older than any collector; None: there are none.
    """

    keys: list[bytes | None]
    values: list[bytes | None]
    partitions: NDArray[np.int32]
    offsets: NDArray[np.int64]
    counted: NDArray[np.bool_] | None = None
    first: NDArray[np.bool_] | None = None
    time: Callable[[int], int] = lambda _index: -1
    """When the record of an index was written, Unix ms; -1 unknown."""

    def __len__(self) -> int:
        return len(self.keys)

    def is_counted(self, index: int) -> bool:
        return self.counted is None or bool(self.counted[index])

    def tombstones(self) -> list[int]:
        """Indexes of the records without a value."""
        try:
            # The quickest way through: len(None) raises.
            np.fromiter(map(len, self.values), np.int64, len(self.values))  # type: ignore[arg-type]
        except TypeError:
            return [index for index, value in enumerate(self.values) if value is None]
        return []


@dataclass(slots=True)
class Folded:
    """What became of a batch."""

    commits: int = 0
    skipped: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    """Records of unknown kinds and versions, by (key version, value version)."""
    rejected: list[tuple[int, Malformed]] = field(default_factory=list)
    """Index in the batch and what is wrong with the record."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All groups that a source knows at one time, of some shards.

    `unread` are groups that are there although their offsets could not be read. A group in neither
    is gone, but only if the snapshot `is_complete`.
    """

    read_at: int
    """Unix milliseconds."""
    shards: frozenset[int]
    groups: dict[str, TopicOffsets] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    is_complete: bool = True


class Source(Protocol):
    """OffsetsTopicSource, or several sources together (SourceSet)."""

    @property
    def partitions(self) -> SourcePartitions:
        """Those owned, and how far each was read."""

    @property
    def is_ready(self) -> bool:
        """All that was there at the start is known."""

    @property
    def problem(self) -> KafkaError | None:
        """What keeps one of several sources from telling anything, while the others go on."""

    @property
    def obstacle(self) -> KafkaError | None:
        """What keeps all of them from telling anything, as far as `poll` does not raise it."""

    @property
    def pending(self) -> int:
        """Records that wait for the end of their transactions."""

    def poll(self, timeout: float) -> Batch:
        """What has arrived within `timeout` seconds. Raises KafkaError."""

    def store(self) -> None:
        """All that was polled is on the bus."""

    def backlog(self) -> int:
        """Records of the owned partitions that are not read yet, as last heard."""

    def reread(self) -> None:
        """Other groups are wanted now: tells what is there once more. Raises KafkaError."""
