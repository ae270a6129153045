"""Until retention may delete what was not consumed: by time or by size, whichever comes first."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from warren.contracts import TimeToLossReason

from warren_freshness.figures import arithmetic
from warren_freshness.positions.partition_state import PartitionState
from warren_freshness.topics.log_sizes import LogGrowth
from warren_freshness.topics.retention import SizeLimit

Retention = Mapping[str, int | None]
"""Milliseconds by topic, None where time deletes nothing; absent where nobody knows."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """`limits`: of logs, by topic, where there is one; `growth` of those, by topic and partition.
    `are_refused`: the right to see them is missing."""

    limits: Mapping[str, SizeLimit] = field(default_factory=dict)
    growth: Mapping[tuple[str, int], LogGrowth] = field(default_factory=dict)
    are_refused: bool = False


class Loss(NamedTuple):
    """At least so long, by which limit, and how much of that is left (0 to 1); or why nobody knows
    how long. All None: nothing deletes it."""

    milliseconds: int | None
    reason: TimeToLossReason | None
    share: float | None = None


def time_to_loss(
    state: PartitionState, oldest_at: int, times: Retention, sizes: Sizes, now: int
) -> Loss:
    """Of the oldest record that was not consumed."""
    topic, partition, _ = state.committed
    if topic not in times:
        return Loss(None, "config_unknown")
    retention = times[topic]
    by_time = arithmetic.time_to_loss(oldest_at, retention, now)
    limit = sizes.limits.get(topic)
    if limit is not None:
        growth = sizes.growth.get((topic, partition))
        offset = max(state.next_offset, state.log_start)
        by_size = growth.time_to_loss(offset, *limit, now) if growth else None
        if growth is None or by_size is None:
            return Loss(None, "not_authorised" if sizes.are_refused else "size_unknown")
        if not math.isinf(by_size) and (by_time is None or by_size < by_time):
            left = limit.size - growth.bytes_after(offset, limit.largest_batch)
            return Loss(int(by_size), "retention_bytes", _share(left, limit.size))
    if by_time is None or retention is None:
        return Loss(None, None)
    return Loss(by_time, "retention_ms", _share(by_time, retention))


def loss_of_unread(
    state: PartitionState, times: Retention, sizes: Sizes
) -> TimeToLossReason | None:
    """Why nobody knows it where the oldest record was not read; None where nothing deletes it."""
    topic = state.committed.topic
    if topic not in times:
        return "config_unknown"
    return None if times[topic] is None and topic not in sizes.limits else "oldest_unknown"


def _share(left: int, whole: int) -> float:
    """To the thousandth."""
    return round(min(max(left / whole, 0.0), 1.0), 3) if whole > 0 else 0.0
