"""One group's positions in one topic: NumPy columns, one entry per partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from warren.contracts import TopicPositions

from warren_freshness.log_position import UNKNOWN

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
        looks[at] = _looks(same.looks_beyond_end, looks[at])
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


def _looks(before: Int64s, now: Int64s) -> Int64s:
    """Those before and one more, where it was beyond again; none where it was not."""
    more = np.minimum(np.maximum(before, 0) + 1, BEYOND_END_LOOKS)
    return np.where(now == UNKNOWN, before, np.where(now == 0, 0, more))


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
