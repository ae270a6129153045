"""All groups of this collector: by source partition and name, and which of them are due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from warren_collector.positions.columns import FreeRows
from warren_collector.positions.group import Group

NEVER = -np.inf


class GroupIndex:
    """Groups have slots: entries of the columns `dirty` and `published_at` (monotonic seconds).

    Dirty: a commit or deletion was folded in that is not published yet.
    """

    def __init__(self) -> None:
        self._slots = FreeRows(first=0)
        self._by_partition: dict[int, dict[str, Group]] = {}
        self._by_slot: list[Group | None] = []
        self.dirty = np.zeros(self._slots.capacity, np.bool_)
        self._published_at = np.full(self._slots.capacity, NEVER)

    def __iter__(self) -> Iterator[Group]:
        for groups in self._by_partition.values():
            yield from groups.values()

    def __len__(self) -> int:
        return sum(map(len, self._by_partition.values()))

    def of_partition(self, partition: int) -> list[Group]:
        return list(self._by_partition.get(partition, {}).values())

    def get(self, partition: int, name: str) -> Group | None:
        return self._by_partition.get(partition, {}).get(name)

    def at(self, slot: int) -> Group:
        """The group of a slot that is taken."""
        group = self._by_slot[slot]
        if group is None:
            raise KeyError(slot)
        return group

    def ensure(self, partition: int, name: str) -> Group:
        """The group, new if need be."""
        groups = self._by_partition.setdefault(partition, {})
        group = groups.get(name)
        if group is None:
            slot = self._slots.take()
            group = groups[name] = Group(name, partition, slot)
            if slot == len(self._by_slot):
                self._by_slot.append(group)
            else:
                self._by_slot[slot] = group
            if slot >= len(self.dirty):
                self._grow()
            self.dirty[slot] = False
            self._published_at[slot] = NEVER
        return group

    def forget(self, group: Group) -> None:
        groups = self._by_partition[group.source_partition]
        del groups[group.name]
        if not groups:
            del self._by_partition[group.source_partition]
        self._by_slot[group.slot] = None
        self.dirty[group.slot] = False
        self._slots.give_back(group.slot)

    def due(self, last_heartbeat: float) -> list[Group]:
        """Dirty groups and those that were not published after `last_heartbeat`."""
        count = len(self._by_slot)
        due: NDArray[np.bool_] = self.dirty[:count] | (self._published_at[:count] <= last_heartbeat)
        groups = (self._by_slot[slot] for slot in due.nonzero()[0].tolist())
        return [group for group in groups if group is not None]

    def published(self, groups: Iterable[Group], at: float) -> None:
        slots = [group.slot for group in groups]
        self.dirty[slots] = False
        self._published_at[slots] = at

    def _grow(self) -> None:
        more = self._slots.capacity - len(self.dirty)
        self.dirty = np.concatenate([self.dirty, np.zeros(more, np.bool_)])
        self._published_at = np.concatenate([self._published_at, np.full(more, NEVER)])
