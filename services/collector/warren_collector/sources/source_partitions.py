"""The partitions of the offsets topic that this collector owns, and how far each was read."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
