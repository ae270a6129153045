"""Where a topic's logs begin and end, as the newest offset event of any group says."""

from __future__ import annotations

import numpy as np
from warren.contracts import TopicPositions

from warren_freshness.log_position import UNKNOWN
from warren_freshness.positions.pace import Pace


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
