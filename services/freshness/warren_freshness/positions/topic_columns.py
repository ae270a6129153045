"""One group's positions in one topic: NumPy columns, one entry per partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
    none of them knew the log end."""

    partition: Int64s
    committed: Int64s
    committed_at: Int64s
    lagging_since: Int64s
    looks_beyond_end: Int64s

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
        )

    def __len__(self) -> int:
        return len(self.partition)

    def after(self, older: TopicColumns) -> TopicColumns:
        """These columns, with what only the older ones know."""
        listed_again = np.isin(older.partition, self.partition)
        same = older._take(listed_again)
        at = np.searchsorted(self.partition, same.partition)
        stayed = (same.committed == self.committed[at]) & (same.lagging_since != UNKNOWN)
        since = self.lagging_since.copy()
        since[at[stayed]] = same.lagging_since[stayed]
        looks = self.looks_beyond_end.copy()
        looks[at] = _looks(same.looks_beyond_end, looks[at])
        merged = TopicColumns(self.partition, self.committed, self.committed_at, since, looks)
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
        )


def _looks(before: Int64s, now: Int64s) -> Int64s:
    """Those before and one more, where it was beyond again; none where it was not."""
    more = np.minimum(np.maximum(before, 0) + 1, BEYOND_END_LOOKS)
    return np.where(now == UNKNOWN, before, np.where(now == 0, 0, more))
