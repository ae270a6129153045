"""Committed positions, by group, and what of them is on the bus: what all sources' share."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from warren_collector.positions.columns import Int64s, PositionColumns
from warren_collector.positions.earlier_commits import EarlierCommits
from warren_collector.positions.index import Group, GroupIndex
from warren_collector.sources.source import Batch, Folded


class Positions(ABC):
    """What the stack and its ticks need of positions, whatever their source; no clock, no I/O."""

    def __init__(self) -> None:
        self.columns = PositionColumns()
        self.groups = GroupIndex()
        self.earlier = EarlierCommits()

    def __len__(self) -> int:
        """Committed positions."""
        return self.columns.used

    @abstractmethod
    def fold(self, batch: Batch) -> Folded:
        """Takes in what a source tells; what could not be used is in the result."""

    def due(self, last_heartbeat: float) -> list[Group]:
        """Groups to publish: changed ones, and those last published before that (monotonic s)."""
        return self.groups.due(last_heartbeat)

    def release(self, partitions: Iterable[int]) -> None:
        """Forgets the groups of these partitions (or shards): they are another collector's now."""
        for partition in partitions:
            for group in self.groups.of_partition(partition):
                for row in group.all_rows():
                    self._give_back(row)
                self.groups.forget(group)

    @abstractmethod
    def drop_denied(self) -> None:
        """The filters have changed: what is not watched any more will be published as deleted."""

    def published(self, groups: Sequence[Group], rows: Sequence[Int64s], at: float) -> None:
        """These rows of these groups are on the bus. `at`: monotonic seconds."""
        if rows:
            published = np.concatenate(rows)
            self.columns.commits[published] = 0
            self.columns.published[published] = True
            self.columns.published_offset[published] = self.columns.offset[published]
            self.earlier.drop(self.columns.published)
        self.groups.published(groups, at)
        for group in groups:
            group.are_published()
            if group.is_empty:
                self.groups.forget(group)

    def add(self, group: Group, topic: str, partition: int, key: bytes = b"") -> int:
        """The row of a position that was not there before. `key`: of its record, if it has one."""
        row = self.columns.take(key, group.slot)
        group.add(topic, partition, row)
        return row

    def remove(self, group: Group, topic: str, partition: int) -> None:
        """A position is gone: the group is due."""
        self._give_back(group.topics[topic].by_partition[partition])
        group.remove(topic, partition)
        group.removes(topic, partition)
        self.groups.dirty[group.slot] = True

    def _give_back(self, row: int) -> None:
        """Nothing is committed under this row any more."""
        self.columns.give_back(row)
        self.earlier.forget(row)
