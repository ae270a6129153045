"""Columns: what an offset event tells of each partition, and what becomes of it.

Every column is declared here, under the name that it has in `TopicPositions`. All are 64-bit
integers and UNKNOWN (-1) where nobody told. Reading, room for new partitions, parts of an
observation and the stored state follow from the declaration. Those of every event are published.

Layout: which row of the columns belongs to which partition.

Lags: how much of their logs partitions have left, at least, and where that is not known.

Assumed commits: where a group is taken to stand that has committed nothing.

Nobody knows where it stands. It is taken to stand where the log ended when it was first seen so:
what is written from then on nobody has said to have read. Its window holds that one commit, and the
rules judge it as any other. `Latest.COMMITTED` stays UNKNOWN, which tells an assumed commit from
one that was made. Its lag is unknown; its time is that of the last look at which the log still
ended there, so that nobody waits where nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import accumulate, pairwise

import numpy as np
from warren.contracts import OffsetEvent

from warren_core.evaluation import LATE_LOOK, UNKNOWN, Bools, Column, Int64, Windows

MISSING = -1


def slices(counts: Iterable[int]) -> list[slice]:
    """So many rows each, one after the other."""
    return [slice(start, stop) for start, stop in pairwise(accumulate(counts, initial=0))]


class Layout:
    """Rows for the partitions of several topics; topics and partitions are sorted. Immutable."""

    __slots__ = ("_rows", "ranges", "topics")

    def __init__(self, topics: Mapping[str, Collection[int]]) -> None:
        self.topics: dict[str, tuple[int, ...]] = {
            topic: tuple(sorted(topics[topic])) for topic in sorted(topics) if topics[topic]
        }
        rows = slices(map(len, self.topics.values()))
        self.ranges = dict(zip(self.topics, rows, strict=True))
        """The rows of each topic."""
        self._rows = rows[-1].stop if rows else 0

    def __len__(self) -> int:
        return self._rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.topics == other.topics

    def __hash__(self) -> int:
        return hash(tuple(self.topics.items()))

    def slices(self) -> Iterator[tuple[str, tuple[int, ...], slice]]:
        """Topic, its partitions, its rows."""
        for topic, partitions in self.topics.items():
            yield topic, partitions, self.ranges[topic]

    def name(self, row: int) -> tuple[str, int]:
        """Topic and partition of a row."""
        for topic, partitions, rows in self.slices():
            if row < rows.stop:
                return topic, partitions[row - rows.start]
        raise IndexError(row)

    def label(self, row: int) -> str:
        """`orders/0`"""
        return "{}/{}".format(*self.name(row))

    def names(self) -> list[tuple[str, int]]:
        """Topic and partition of each row."""
        return [(topic, partition) for topic, known in self.topics.items() for partition in known]

    def rows(self, topic: str, partitions: Sequence[int]) -> Int64:
        """The row of each partition, in their order; MISSING for one that is not here."""
        known, rows = self.topics.get(topic, ()), self.ranges.get(topic, slice(0, 0))
        if known == tuple(partitions):
            return np.arange(rows.start, rows.stop)
        row_of = {partition: row for row, partition in enumerate(known, rows.start)}
        return np.array([row_of.get(p, MISSING) for p in partitions], np.int64)

    def rows_of(self, other: Layout) -> Int64:
        """For each row of the other layout the row here; MISSING for one that is not here."""
        if self.topics == other.topics:  # as nearly always
            return np.arange(len(self))
        rows = [self.rows(topic, partitions) for topic, partitions in other.topics.items()]
        return np.concatenate(rows) if rows else np.zeros(0, np.int64)

    def after(
        self, removed: Mapping[str, Sequence[int]], named: Mapping[str, Sequence[int]]
    ) -> Layout:
        """This layout without the first partitions, and with the second ones too."""
        whole = all(self.has(topic, partitions) for topic, partitions in named.items())
        if whole and removed.keys().isdisjoint(self.topics):  # as nearly always
            return self
        topics = {
            topic: set(partitions).difference(removed.get(topic, ()))
            for topic, partitions in self.topics.items()
        }
        for topic, partitions in named.items():
            topics.setdefault(topic, set()).update(partitions)
        return Layout(topics)

    def marked(self, topics: Collection[str]) -> Int64:
        """1 in the rows of these topics, 0 in all others."""
        marks = np.zeros(len(self), np.int64)
        for topic in topics:
            marks[self.ranges.get(topic, slice(0, 0))] = 1
        return marks

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


class Reported(EventColumn):
    """Columns that an event may have. They are of one observation, all of its parts: a state keeps
    them until its last part is there.
    """

    LEADER = 0
    LAST_STABLE = 1
    OWNED = 2


def unknown(of: type[EventColumn], partitions: int) -> Int64:
    """[column, partition]"""
    return np.full((len(of), partitions), UNKNOWN, np.int64)


def is_assumed(latest: Int64, windows: Windows) -> Bools:
    """[partition] its one commit is assumed."""
    assumed: Bools = (latest[Latest.COMMITTED] < 0) & (windows.filled > 0)
    return assumed


def settled(latest: Int64, windows: Windows) -> Int64:
    """[Latest, partition] with assumed offsets, too."""
    assumed = is_assumed(latest, windows)
    if not assumed.any():  # as mostly
        return latest
    known = latest.copy()
    known[Latest.COMMITTED, assumed] = windows.newest(Column.OFFSET)[assumed]
    return known


def made_only(latest: Int64, windows: Windows) -> Windows:
    """The windows without commits that are assumed: what is told to others."""
    assumed = is_assumed(latest, windows)
    if not assumed.any():  # as mostly
        return windows
    made = windows.copied()
    made.clear_commits(assumed)
    return made


def left_out(event: OffsetEvent, latest: Int64, layout: Layout) -> dict[str, list[int]]:
    """Partitions that are known only because they were told, and are not told any more: those of
    topics of which nothing is committed. Nobody owns them now, and nobody was there to say so.
    """
    if not event.topics or event.parts > 1 or not (latest[Latest.COMMITTED] < 0).any():
        return {}
    gone: dict[str, list[int]] = {}
    for topic, partitions, rows in layout.slices():
        columns = event.topics.get(topic)
        untold = sorted({*partitions}.difference(() if columns is None else columns.partition))
        if untold and not (latest[Latest.COMMITTED, rows] >= 0).any():
            gone[topic] = untold
    return gone


def lag_of(latest: Int64, steps: Int64) -> Int64:
    """[partition] what can be read: log end - offset that is read next, or the log's start where
    that was deleted, at least 0; UNKNOWN when offset or end is. `steps`: from the committed offsets
    to those that are read next, 0 or 1; [partition], or for all.
    """
    committed, log_end = latest[Latest.COMMITTED], latest[Latest.LOG_END]
    known = (committed >= 0) & (log_end >= 0)
    first = np.maximum(committed + steps, latest[Latest.LOG_START])
    return np.where(known, np.maximum(log_end - first, 0), UNKNOWN)


def least_lag_of(latest: Int64, windows: Windows, lag: Int64, steps: Int64) -> Int64:
    """The lag that a partition is judged by: that of now or, while no broker says where the log
    ends, the one that follows from where it last ended. Logs only grow, so it is at least that.
    """
    if (lag != UNKNOWN).all():  # as nearly always
        return lag
    then = settled(latest, windows).copy()
    then[Latest.LOG_END] = windows.log_ends[:, -1]
    return np.where(lag == UNKNOWN, lag_of(then, steps), lag)


def unknown_of(latest: Int64, windows: Windows, now_ms: int | Int64, pace_ms: int | Int64) -> Bools:
    """[partition] the group has committed in it, and nobody says where its log ends, for longer
    than a look is only late. `windows` have the log ends of now already.
    """
    in_vain = (latest[Latest.COMMITTED] >= 0) & (latest[Latest.LOG_END] < 0)
    for_long: Bools = in_vain & (now_ms - windows.log_ends_at > LATE_LOOK * pace_ms)
    return for_long
