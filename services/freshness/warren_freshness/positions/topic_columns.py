"""One group's positions in one topic: NumPy columns, one entry per partition.

A partition: what the offset events say about it, and what there is to read for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from warren.contracts import TopicPositions
from warren_core.evaluation.commit_convention import REST_MS

from warren_freshness.log_position import UNKNOWN, LogPosition

Int64s = NDArray[np.int64]

BEYOND_END_LOOKS = 2  # a leader that has just moved may tell too early an end once


@dataclass(frozen=True, slots=True)
class TopicColumns:
    """Sorted by partition. `lagging_since`: observation from which on a record was known to be at
    the committed offset, Unix ms; UNKNOWN while there was none. `looks_beyond_end`: in how many of
    the last observations, two at most, the log ended before the committed offset; UNKNOWN where
    none of them knew the log end. `first_end`: where the log ended when nothing was first seen to
    be committed; UNKNOWN elsewhere. What was written since is not consumed, as far as anybody
    knows, so `lagging_since` is of that."""

    partition: Int64s
    committed: Int64s
    committed_at: Int64s
    lagging_since: Int64s
    looks_beyond_end: Int64s
    first_end: Int64s

    @classmethod
    def from_event(cls, listed: TopicPositions, observed_at: int) -> TopicColumns:
        partition = np.array(listed.partition, np.int64)
        order = np.argsort(partition)
        committed = np.array(listed.committed, np.int64)[order]
        log_end = np.array(listed.log_end, np.int64)[order]
        lagging = (committed >= 0) & (log_end > committed)
        return cls(
            partition[order],
            committed,
            np.array(listed.committed_at, np.int64)[order],
            np.where(lagging, observed_at, UNKNOWN),
            np.where(log_end == UNKNOWN, UNKNOWN, committed > log_end),
            np.where(committed < 0, log_end, UNKNOWN),
        )

    def __len__(self) -> int:
        return len(self.partition)

    def after(self, older: TopicColumns, observed_at: int) -> TopicColumns:
        """These columns, which were `observed_at`, with what only the older ones know."""
        listed_again = np.isin(older.partition, self.partition)
        same = older._take(listed_again)
        at = np.searchsorted(self.partition, same.partition)
        stayed = (same.committed == self.committed[at]) & (same.lagging_since != UNKNOWN)
        log_end, first = self.first_end[at], same.first_end  # UNKNOWN where something is committed
        stayed &= (log_end == UNKNOWN) | (log_end >= first)  # else the topic was made anew
        since = self.lagging_since.copy()
        since[at[stayed]] = same.lagging_since[stayed]
        written = ~stayed & (first != UNKNOWN) & (log_end > first)
        since[at[written]] = observed_at
        first_end = self.first_end.copy()
        goes_on = (first != UNKNOWN) & (self.committed[at] < 0)
        goes_on &= (log_end == UNKNOWN) | (log_end >= first)
        first_end[at[goes_on]] = first[goes_on]
        looks = self.looks_beyond_end.copy()
        # Those before and one more, where it was beyond again; none where it was not.
        now = looks[at]
        more = np.minimum(np.maximum(same.looks_beyond_end, 0) + 1, BEYOND_END_LOOKS)
        looks[at] = np.where(now == UNKNOWN, same.looks_beyond_end, np.where(now == 0, 0, more))
        known = (self.partition, self.committed, self.committed_at, since, looks, first_end)
        merged = TopicColumns(*known)
        return merged if listed_again.all() else merged._with(older._take(~listed_again))

    def without(self, partitions: Iterable[int]) -> TopicColumns:
        return self._take(~np.isin(self.partition, list(partitions)))

    def _with(self, others: TopicColumns) -> TopicColumns:
        order = np.argsort(np.concatenate([self.partition, others.partition]))
        return TopicColumns(
            *(
                np.concatenate(pair)[order]
                for pair in zip(self._columns(), others._columns(), strict=True)
            )
        )

    def _take(self, which: NDArray[np.bool_]) -> TopicColumns:
        return TopicColumns(*(column[which] for column in self._columns()))

    def _columns(self) -> tuple[Int64s, ...]:
        return (
            self.partition,
            self.committed,
            self.committed_at,
            self.lagging_since,
            self.looks_beyond_end,
            self.first_end,
        )


# How fast offsets grow: the median of the slopes between observations of about the last minute
# (Theil and Sen's), which one leap, such as a seek, does not change.

Float64s = NDArray[np.float64]

POINTS = 7
# Points that are apart cover a minute; the newest is replaced until it is as far from the last.
APART_MS = 10_000
_PAIRS = np.array(list(combinations(range(POINTS), 2)))


class Pace:
    """Of one topic's partitions, by number; `update` as observed, Unix ms."""

    def __init__(self) -> None:
        self._at = np.full((POINTS, 0), UNKNOWN, np.int64)
        self._offset = np.full((POINTS, 0), UNKNOWN, np.int64)

    def update(self, partition: Int64s, offset: Int64s, at: int) -> None:
        """Newer observations of these (distinct) partitions; UNKNOWN ones say nothing. One that is
        behind the last begins anew: the group was reset, or the topic made anew."""
        known = offset != UNKNOWN
        partition, offset = partition[known], offset[known]
        more = (int(partition.max(initial=UNKNOWN)) + 1) - self._at.shape[1]
        if more > 0:
            unknown = np.full((POINTS, more), UNKNOWN, np.int64)
            self._at = np.concatenate([self._at, unknown], axis=1)
            self._offset = np.concatenate([self._offset, unknown], axis=1)
        newer = self._at[-1, partition] < at
        partition, offset = partition[newer], offset[newer]
        anew = partition[offset < self._offset[-1, partition]]
        self._at[:, anew] = self._offset[:, anew] = UNKNOWN
        far = (self._at[-2, partition] == UNKNOWN) | (at - self._at[-2, partition] >= 2 * APART_MS)
        later = partition[far | (self._at[-1, partition] - self._at[-2, partition] >= APART_MS)]
        for points in (self._at, self._offset):
            points[:-1, later] = points[1:, later]
        self._at[-1, partition] = at
        self._offset[-1, partition] = offset
        self.__dict__.pop("_rates", None)

    def rates(self, partition: Int64s) -> Float64s:
        """Offsets a second; NaN where there are no two observations yet."""
        known = partition < self._at.shape[1]
        rates = np.full(len(partition), np.nan)
        rates[known] = self._rates[partition[known]]
        return rates

    @cached_property
    def _rates(self) -> Float64s:
        first, second = _PAIRS[:, 0], _PAIRS[:, 1]
        slopes = np.full((len(_PAIRS), self._at.shape[1]), np.nan)
        apart = (self._at[second] - self._at[first]).astype(np.float64)
        grown = (self._offset[second] - self._offset[first]) * 1000.0
        np.divide(grown, apart, out=slopes, where=(self._at[first] != UNKNOWN) & (apart > 0))
        # Not nanmedian, which warns of columns without a number: NaN is sorted to the end.
        slopes.sort(axis=0)
        count = np.isfinite(slopes).sum(axis=0)
        columns = np.arange(slopes.shape[1])
        lower, upper = np.maximum(count - 1, 0) // 2, count // 2
        medians = (slopes[lower, columns] + slopes[np.minimum(upper, len(_PAIRS) - 1), columns]) / 2
        return np.where(count > 0, medians, np.nan)


_POSITION = partial(tuple.__new__, LogPosition)


class LogRange:
    """Columns indexed by partition number; `observed_at` in Unix ms, UNKNOWN where never seen.
    `pace` is that of the producers."""

    __slots__ = ("end", "observed_at", "pace", "start")

    def __init__(self) -> None:
        self.start = np.full(0, UNKNOWN, np.int64)
        self.end = np.full(0, UNKNOWN, np.int64)
        self.observed_at = np.full(0, UNKNOWN, np.int64)
        self.pace = Pace()

    def update(self, listed: TopicPositions, observed_at: int) -> None:
        """Takes in what an event says, unless something newer is known."""
        partition = np.array(listed.partition, np.int64)
        self.cover(int(partition.max(initial=UNKNOWN)) + 1)
        end = np.array(listed.log_end, np.int64)
        newer = (end != UNKNOWN) & (self.observed_at[partition] <= observed_at)
        partition = partition[newer]
        self.start[partition] = np.array(listed.log_start, np.int64)[newer]
        self.end[partition] = end[newer]
        self.pace.update(partition, end[newer], observed_at)
        self.observed_at[partition] = observed_at

    def cover(self, partitions: int) -> None:
        """Makes room for that many partitions."""
        more = partitions - len(self.end)
        if more > 0:
            unknown = np.full(more, UNKNOWN, np.int64)
            self.start = np.concatenate([self.start, unknown])
            self.end = np.concatenate([self.end, unknown])
            self.observed_at = np.concatenate([self.observed_at, unknown])


class PartitionState(NamedTuple):
    """Offsets and times as in the contracts: UNKNOWN is -1.

    `steps`: from the committed offset to the one that is read next, 0 or 1; `is_sure`: that is
    known, not supposed. Rates in records a second.
    """

    committed: LogPosition
    committed_at: int
    lagging_since: int
    log_start: int
    log_end: int
    log_observed_at: int
    looks_beyond_end: int = 0
    produce_rate: float | None = None
    consume_rate: float | None = None
    steps: int = 0
    is_sure: bool = True

    @property
    def has_committed(self) -> bool:
        return self.committed.offset >= 0

    @property
    def is_caught_up(self) -> bool:
        """Nothing is left to read, as far as the events know."""
        return UNKNOWN != self.log_end <= self.next_offset

    @property
    def next_offset(self) -> int:
        """The first one that the group has not processed."""
        return self.committed.offset + self.steps

    @property
    def catch_up_ms(self) -> int | None:
        """Until nothing is left to read if both rates stay; None when that shrinks not or is not
        known."""
        if not self.has_committed or self.log_end == UNKNOWN:
            return None
        lag = self.log_end - max(self.next_offset, self.log_start)
        if lag <= 0:
            return 0
        if self.produce_rate is None or self.consume_rate is None:
            return None
        gained = self.consume_rate - self.produce_rate
        return round(lag * 1000 / gained) if gained > 0 else None

    @property
    def has_reached_end(self) -> bool:
        """It has committed the end of a log that has had records."""
        return self.log_end == self.committed.offset > 0

    @property
    def rests_at_last_record(self) -> bool:
        """It stays one before the end of a log that does not grow."""
        return (
            self.log_end == self.committed.offset + 1
            and self.has_committed
            and self.lagging_since != UNKNOWN
            and self.log_observed_at - self.lagging_since >= REST_MS
        )

    @property
    def is_beyond_end(self) -> bool:
        """The log does not have the committed offset (any more), by more than one look."""
        is_beyond = UNKNOWN != self.log_end < self.committed.offset
        return is_beyond and self.looks_beyond_end >= BEYOND_END_LOOKS

    @property
    def to_read(self) -> LogPosition | None:
        """Where the oldest unconsumed record is; None when there is nothing to read."""
        # Asked for several times a pass, of every partition of every group.
        committed, log_end = self.committed, self.log_end
        offset = committed.offset + self.steps
        if committed.offset < 0 or UNKNOWN != log_end <= offset:
            return None
        if offset < self.log_start:
            offset = self.log_start
        return committed if offset == committed.offset else committed._replace(offset=offset)

    @property
    def log_end_position(self) -> LogPosition:
        return LogPosition(self.committed.topic, self.committed.partition, self.log_end)

    @property
    def lost_records(self) -> int:
        return lost_records(self.next_offset, self.log_start)

    @property
    def known_since(self) -> int | None:
        """Since when, at least, the oldest unconsumed record has been there, Unix ms."""
        if self.lagging_since != UNKNOWN and not (self.steps and self.has_committed):
            return self.lagging_since
        behind = self.log_end > self.next_offset
        return self.log_observed_at if self.has_committed and behind else None


def lost_records(next_offset: int, log_start: int) -> int:
    """Offsets that were deleted before the group consumed them; 0 when nothing is unknown."""
    return max(log_start - next_offset, 0) if next_offset >= 0 else 0


# There are many of them, and a pass makes each anew: without a call of Python's for each.
_STATE = partial(tuple.__new__, PartitionState)


def partition_states(
    topic: str, columns: TopicColumns, log_range: LogRange, pace: Pace
) -> Iterator[PartitionState]:
    """One state per partition of a group's topic."""
    at = columns.partition
    committed = zip(repeat(topic), at.tolist(), columns.committed.tolist(), strict=False)
    return map(
        _STATE,
        zip(
            map(_POSITION, committed),
            columns.committed_at.tolist(),
            columns.lagging_since.tolist(),
            log_range.start[at].tolist(),
            log_range.end[at].tolist(),
            log_range.observed_at[at].tolist(),
            columns.looks_beyond_end.tolist(),
            _known(log_range.pace.rates(at)),
            _known(pace.rates(at)),
            repeat(0),
            repeat(True),
            strict=False,
        ),
    )


def _known(rates: Float64s) -> list[float | None]:
    """To the thousandth of a record."""
    return [None if rate != rate else rate if rate > 0 else 0.0 for rate in rates.round(3).tolist()]
