"""What the offset events say about one partition of a group, and what there is to read for it."""

from collections.abc import Iterator
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np
from warren.contracts import TopicPositions
from warren_core.evaluation.commit_convention import REST_MS

from warren_freshness.log_position import UNKNOWN, LogPosition
from warren_freshness.positions.topic_columns import BEYOND_END_LOOKS, Float64s, Pace, TopicColumns

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
