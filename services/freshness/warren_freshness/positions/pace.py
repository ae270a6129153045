"""How fast offsets grow: the median of the slopes between observations of about the last minute
(Theil and Sen's), which one leap, such as a seek, does not change."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from warren_freshness.log_position import UNKNOWN

Int64s = NDArray[np.int64]
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
        self._cover(int(partition.max(initial=UNKNOWN)) + 1)
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

    def _cover(self, partitions: int) -> None:
        more = partitions - self._at.shape[1]
        if more > 0:
            unknown = np.full((POINTS, more), UNKNOWN, np.int64)
            self._at = np.concatenate([self._at, unknown], axis=1)
            self._offset = np.concatenate([self._offset, unknown], axis=1)
