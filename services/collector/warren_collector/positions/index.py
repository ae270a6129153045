"""All groups of this collector, each with its rows of the columns, and which of them are due."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from warren.contracts.offset_event import SourceName

from warren_collector.logs.ends import LogEnds
from warren_collector.positions.columns import NEVER_COMMITTED, FreeRows, Int64s, PositionColumns

NEVER = -np.inf
UNTOLD = 2**62
"""Milliseconds: no position was removed of which it is known how old its last commit was."""


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


class Owned(NamedTuple):
    """Partitions, by topic, that members own, or owned last; `by_members`: there are some now,
    None where nobody knows.
    """

    partitions: Mapping[str, frozenset[int]]
    by_members: bool | None


NOTHING_OWNED = Owned({}, None)


class Group:
    """A group as one source partition has it.

    `slot` is its entry in the group columns; `removed` are deletions not published yet, of which
    the last commit was `idle_ms` ago at least; -1 where nobody knows. Where a cluster has several
    sources, `source` is that of the newest commit, and a group that more than one of them knows
    `is_shared`.
    """

    __slots__ = (
        *("idle_ms", "is_shared", "name", "owned", "removed", "slot"),
        *("source", "source_partition", "topics"),
    )

    def __init__(self, name: str, source_partition: int, slot: int) -> None:
        self.name = name
        self.source_partition = source_partition
        self.slot = slot
        self.topics: dict[str, TopicRows] = {}
        self.removed: dict[str, set[int]] = {}
        self.owned = NOTHING_OWNED
        self.idle_ms = UNTOLD
        self.source: SourceName | None = None
        self.is_shared = False

    @property
    def is_empty(self) -> bool:
        """Nothing is told of it."""
        return not self.topics and not self.owned.partitions

    def row(self, topic: str, partition: int) -> int | None:
        rows = self.topics.get(topic)
        return None if rows is None else rows.by_partition.get(partition)

    def add(self, topic: str, partition: int, row: int) -> None:
        """A position that was not there before."""
        self.topics.setdefault(topic, TopicRows()).set(partition, row)

    def remove(self, topic: str, partition: int) -> None:
        rows = self.topics[topic]
        rows.remove(partition)
        if not rows.by_partition:
            del self.topics[topic]

    def removes(self, topic: str, partition: int, idle_ms: int = -1) -> None:
        """A deletion to publish. `idle_ms`: since the position's last commit; -1 unknown."""
        self.removed.setdefault(topic, set()).add(partition)
        self.idle_ms = min(self.idle_ms, idle_ms)

    def are_published(self) -> None:
        """The deletions are on the bus."""
        self.removed.clear()
        self.idle_ms = UNTOLD

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
                more = self._slots.capacity - len(self.dirty)
                self.dirty = np.concatenate([self.dirty, np.zeros(more, np.bool_)])
                self._published_at = np.concatenate([self._published_at, np.full(more, NEVER)])
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


def standing(groups: Iterable[Group], columns: PositionColumns, ends: LogEnds) -> dict[str, Int64s]:
    """Partitions, by topic, in which one of the groups stands."""
    marked: dict[str, NDArray[np.bool_]] = {}
    for group in groups:
        for topic, rows in group.topics.items():
            log = ends.topics.get(topic)
            if log is None:
                continue
            chosen = rows.rows(len(log.end))
            offset = columns.offset[chosen]
            stands = (
                (offset == columns.published_offset[chosen]) & (offset >= 0) & (offset < log.end)
            )
            if stands.any():
                known = marked.get(topic)
                marked[topic] = stands if known is None else known | stands
    return {topic: np.flatnonzero(marks) for topic, marks in marked.items()}
