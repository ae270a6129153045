"""Positions of groups, and which of them are on the bus: what all sources' positions share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from warren_collector.positions.columns import Int64s, PositionColumns
from warren_collector.positions.group import Group
from warren_collector.positions.index import GroupIndex
from warren_collector.sources.batch import Batch, Folded


class CollectedPositions(Protocol):
    """What the stack and its ticks need of positions, whatever their source."""

    columns: PositionColumns
    groups: GroupIndex

    def __len__(self) -> int: ...

    def fold(self, batch: Batch) -> Folded: ...

    def due(self, last_heartbeat: float) -> list[Group]: ...

    def published(self, groups: Sequence[Group], rows: Sequence[Int64s], at: float) -> None: ...

    def release(self, partitions: Iterable[int]) -> None: ...

    def drop_denied(self) -> None: ...


class GroupPositions:
    """Positions that have no record of their own; no clock, no I/O."""

    def __init__(self) -> None:
        self.columns = PositionColumns()
        self.groups = GroupIndex()

    def __len__(self) -> int:
        """Committed positions."""
        return self.columns.used

    def due(self, last_heartbeat: float) -> list[Group]:
        """Groups to publish: changed ones, and those last published before that (monotonic s)."""
        return self.groups.due(last_heartbeat)

    def release(self, partitions: Iterable[int]) -> None:
        """Forgets the groups of these partitions (or shards): they are another collector's now."""
        for partition in partitions:
            for group in self.groups.of_partition(partition):
                for row in group.all_rows():
                    self.columns.give_back(row)
                self.groups.forget(group)

    def drop_denied(self) -> None:
        """The filters have changed: nothing to do where the next snapshot shows it."""

    def published(self, groups: Sequence[Group], rows: Sequence[Int64s], at: float) -> None:
        """These rows of these groups are on the bus. `at`: monotonic seconds."""
        if rows:
            self.columns.commits[np.concatenate(rows)] = 0
        self.groups.published(groups, at)
        for group in groups:
            group.removed.clear()
            if group.is_empty:
                self.groups.forget(group)

    def add(self, group: Group, topic: str, partition: int) -> int:
        """The row of a position that was not there before."""
        row = self.columns.take(_NO_KEY, group.slot)
        group.add(topic, partition, row)
        return row

    def remove(self, group: Group, topic: str, partition: int) -> None:
        """A position is gone: the group is due."""
        self.columns.give_back(group.topics[topic].by_partition[partition])
        group.remove(topic, partition)
        group.removed.setdefault(topic, set()).add(partition)
        self.groups.dirty[group.slot] = True


_NO_KEY = b""
