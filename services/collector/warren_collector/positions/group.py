"""A consumer group's positions: which rows of the columns are its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from warren.contracts.offset_event import SourceName

# The row of a partition without a commit.
NEVER_COMMITTED = 0


class TopicRows:
    """Rows of one group in one topic, by partition."""

    __slots__ = ("_listed", "by_partition", "gone", "highest")

    def __init__(self) -> None:
        self.by_partition: dict[int, int] = {}
        self.highest = -1
        """No committed partition has a higher number."""
        self.gone: frozenset[int] = frozenset()
        """Committed partitions that the cluster does not have any more, published as removed."""
        self._listed: NDArray[np.int64] | None = None

    def set(self, partition: int, row: int) -> None:
        self.by_partition[partition] = row
        self.highest = max(self.highest, partition)
        self._listed = None

    def remove(self, partition: int) -> int:
        """Forgets a partition and returns its row."""
        self._listed = None
        row = self.by_partition.pop(partition)
        if partition == self.highest:
            self.highest = max(self.by_partition, default=-1)
        return row

    def named(self, commits: NDArray[np.int64]) -> int:
        """How many partitions the topic must have: those told to be gone only count if they were
        committed again. `commits`: not published yet, by row.
        """
        if not self.gone:
            return self.highest + 1
        there = (p for p, row in self.by_partition.items() if p not in self.gone or commits[row])
        return max(there, default=-1) + 1

    def rows(self, partitions: int) -> NDArray[np.int64]:
        """The row of each of the topic's `partitions`; NEVER_COMMITTED where there is none."""
        if self._listed is None or len(self._listed) != partitions:
            self._listed = np.full(partitions, NEVER_COMMITTED, np.int64)
            for partition, row in self.by_partition.items():
                if partition < partitions:
                    self._listed[partition] = row
        return self._listed


class Group:
    """A group as one source partition has it.

    `slot` is its entry in the group columns; `removed` are deletions not published yet. Where a
    cluster has several sources, `source` is that of the newest commit, and a group that more than
    one of them knows `is_shared`.
    """

    __slots__ = ("is_shared", "name", "removed", "slot", "source", "source_partition", "topics")

    def __init__(self, name: str, source_partition: int, slot: int) -> None:
        self.name = name
        self.source_partition = source_partition
        self.slot = slot
        self.topics: dict[str, TopicRows] = {}
        self.removed: dict[str, set[int]] = {}
        self.source: SourceName | None = None
        self.is_shared = False

    @property
    def is_empty(self) -> bool:
        return not self.topics

    def row(self, topic: str, partition: int) -> int | None:
        rows = self.topics.get(topic)
        return None if rows is None else rows.by_partition.get(partition)

    def add(self, topic: str, partition: int, row: int) -> None:
        """A position that was not there before."""
        rows = self.topics.get(topic)
        if rows is None:
            rows = self.topics[topic] = TopicRows()
        rows.set(partition, row)

    def remove(self, topic: str, partition: int) -> None:
        rows = self.topics[topic]
        rows.remove(partition)
        if not rows.by_partition:
            del self.topics[topic]

    def deletions(self) -> dict[str, list[int]]:
        """Deletions to publish: of partitions that were not committed again since."""
        gone = {
            topic: sorted(p for p in partitions if self.row(topic, p) is None)
            for topic, partitions in self.removed.items()
        }
        return {topic: partitions for topic, partitions in gone.items() if partitions}

    def all_rows(self) -> Iterator[int]:
        for rows in self.topics.values():
            yield from rows.by_partition.values()
