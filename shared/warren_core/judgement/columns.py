"""Columns: what an offset event tells of each partition, and what becomes of it.

Every column is declared here, under the name that it has in `TopicPositions`. All are 64-bit
integers and UNKNOWN (-1) where nobody told. Reading, room for new partitions, parts of an
observation and the stored state follow from the declaration; a column is published where `TopicLag`
has a field of its name.

Layout: which row of the columns belongs to which partition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import IntEnum

import numpy as np

from warren_core.evaluation import UNKNOWN, Int64

MISSING = -1


class Layout:
    """Rows for the partitions of several topics; topics and partitions are sorted. Immutable."""

    __slots__ = ("_rows", "_starts", "topics")

    def __init__(self, topics: Mapping[str, Sequence[int]]) -> None:
        self.topics: dict[str, tuple[int, ...]] = {
            topic: tuple(sorted(topics[topic])) for topic in sorted(topics) if topics[topic]
        }
        self._starts: dict[str, int] = {}
        start = 0
        for topic, partitions in self.topics.items():
            self._starts[topic] = start
            start += len(partitions)
        self._rows = start

    def __len__(self) -> int:
        return self._rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.topics == other.topics

    def __hash__(self) -> int:
        return hash(tuple(self.topics.items()))

    def slices(self) -> Iterator[tuple[str, tuple[int, ...], slice]]:
        """Topic, its partitions, its rows."""
        for topic, partitions in self.topics.items():
            start = self._starts[topic]
            yield topic, partitions, slice(start, start + len(partitions))

    @property
    def ranges(self) -> dict[str, slice]:
        """The rows of each topic."""
        return {topic: rows for topic, _, rows in self.slices()}

    def counts(self) -> Iterator[tuple[str, int]]:
        """Topic, number of its partitions."""
        return ((topic, len(partitions)) for topic, partitions in self.topics.items())

    def name(self, row: int) -> tuple[str, int]:
        """Topic and partition of a row."""
        for topic, partitions, rows in self.slices():
            if row < rows.stop:
                return topic, partitions[row - rows.start]
        raise IndexError(row)

    def names(self) -> list[tuple[str, int]]:
        """Topic and partition of each row."""
        return [(topic, partition) for topic, known in self.topics.items() for partition in known]

    def rows(self, topic: str, partitions: Sequence[int]) -> Int64:
        """The row of each partition, in their order; MISSING for one that is not here."""
        known = self.topics.get(topic, ())
        start = self._starts.get(topic, 0)
        if known == tuple(partitions):
            return np.arange(start, start + len(known))
        row_of = {partition: row for row, partition in enumerate(known, start)}
        return np.array([row_of.get(p, MISSING) for p in partitions], np.int64)

    def rows_of(self, other: Layout) -> Int64:
        """For each row of the other layout the row here; MISSING for one that is not here."""
        if self.topics == other.topics:  # as nearly always
            return np.arange(len(self))
        return self.all_rows(other.topics)

    def all_rows(self, topics: Mapping[str, Sequence[int]]) -> Int64:
        """The rows of these partitions, one topic after the other."""
        rows = [self.rows(topic, partitions) for topic, partitions in topics.items()]
        return np.concatenate(rows) if rows else np.zeros(0, np.int64)

    def after(
        self, removed: Mapping[str, Sequence[int]], named: Mapping[str, Sequence[int]]
    ) -> Layout:
        """This layout without the first partitions, and with the second ones too."""
        return self._without(removed)._with(named)

    def marked(self, topics: Collection[str]) -> Int64:
        """1 in the rows of these topics, 0 in all others."""
        marks = np.zeros(len(self), np.int64)
        for topic, _, rows in self.slices():
            marks[rows] = topic in topics
        return marks

    def _with(self, topics: Mapping[str, Sequence[int]]) -> Layout:
        """This layout with these partitions too."""
        if all(self.has(topic, partitions) for topic, partitions in topics.items()):
            return self
        merged: dict[str, Sequence[int]] = dict(self.topics)
        for topic, partitions in topics.items():
            merged[topic] = tuple({*merged.get(topic, ()), *partitions})
        return Layout(merged)

    def _without(self, topics: Mapping[str, Sequence[int]]) -> Layout:
        """This layout without these partitions."""
        if not any(topic in self.topics for topic in topics):
            return self
        kept: dict[str, Sequence[int]] = dict(self.topics)
        for topic, partitions in topics.items():
            gone = set(partitions)
            kept[topic] = [p for p in kept.get(topic, ()) if p not in gone]
        return Layout(kept)

    def has(self, topic: str, partitions: Sequence[int]) -> bool:
        """Whether all of these partitions are here."""
        known = self.topics.get(topic, ())
        return known == tuple(partitions) or set(known).issuperset(partitions)


class EventColumn(IntEnum):
    """A row of an array. `field`: its name in `TopicPositions`, and in `TopicLag` if published."""

    field: str

    def __init__(self, _row: int) -> None:
        self.field = self.name.lower()


class Latest(EventColumn):
    """Columns of every event. A state keeps the newest of each."""

    COMMITTED = 0
    COMMITTED_AT = 1
    LOG_START = 2
    LOG_END = 3


class Told(EventColumn):
    """Columns that an event may have. They are of one observation, all of its parts; a state keeps
    them until its last part is there, those in KEPT until they are told anew.
    """

    LEADER = 0
    LAST_STABLE = 1
    OWNED = 2


KEPT: frozenset[Told] = frozenset()


def unknown(of: type[EventColumn], partitions: int) -> Int64:
    """[column, partition]"""
    return np.full((len(of), partitions), UNKNOWN, np.int64)
