"""Figures of a group, each with the moment of which it is: as measured, or as its incident's
changes say it. Pure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import (
    Condition,
    FreshnessEvent,
    LagEvent,
    StatusChange,
    TimeToLossReason,
    TopicLag,
)
from warren.words import deleted

from warren_core.judgement.counted import topics_not_counted
from warren_core.judgement.lateness import late_ms
from warren_core.objectives.near_loss import SOON_MS, is_soon, runs_out

_STILL = ("STOP", "STALL")
"""Statuses of partitions of which nothing is read."""


class Figure(NamedTuple):
    """A value, and as of when (Unix milliseconds). `is_least`: it may be more."""

    value: int
    at: int
    is_least: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """None: nobody knows it, or there is nothing to know."""

    lag: Figure | None = None
    """Records."""
    late: Figure | None = None
    """Milliseconds."""
    loss_at: Figure | None = None
    """When the first record is lost, Unix milliseconds, where that runs down."""
    kept_until: Figure | None = None
    """Until when no record is lost, at least, whether that runs down or not."""
    loss_reason: TimeToLossReason | None = None
    """Which limit that is about, or why nobody knows it."""
    lost: int = 0
    """Records that are deleted, as measured last."""


def figures_of(lag: LagEvent, freshness: FreshnessEvent | None) -> Figures:
    """As evaluated and measured last."""
    records = lag_of(lag)
    if freshness is None:
        return Figures(records)
    seen, kept = freshness.measured_at, freshness.time_to_loss_ms
    # Who is well and has more than an hour is in no danger.
    is_well = lag.status == "OK" and (kept is None or kept >= SOON_MS)
    left = None if is_well else loss_in(freshness, lag)
    late = late_ms(freshness.freshness_ms, freshness.at_least_ms)
    return Figures(
        records,
        None if late is None else Figure(late, seen, freshness.at_least_ms is not None),
        None if left is None else Figure(seen + left, seen),
        None if kept is None else Figure(seen + kept, seen),
        freshness.time_to_loss_reason,
        freshness.lost_records,
    )


def figures_in(conditions: Iterable[Condition]) -> Figures:
    """The newest that is said of each; a lag of 0 only where nobody says another."""
    said = [(said_of(each), said_at(each)) for each in conditions]
    lag, seen = max(said, key=lambda one: (one[0].total_lag > 0, one[1]))
    late = [Figure(one.late_ms, at) for one, at in said if one.late_ms is not None]
    left = [
        Figure(at + one.time_to_loss_ms, at) for one, at in said if one.time_to_loss_ms is not None
    ]
    return Figures(
        Figure(lag.total_lag, seen),
        max(late, key=lambda one: one.at, default=None),
        max(left, key=lambda one: one.at, default=None),
    )


def said_of(condition: Condition) -> StatusChange:
    """What was said of it last."""
    return condition.end or condition.change


def said_at(condition: Condition) -> int:
    """When, Unix milliseconds."""
    return condition.changed_at if condition.until is None else condition.until


def lag_of(event: LagEvent) -> Figure | None:
    """Records that can be read; None where nothing is known of them."""
    is_least = is_lag_least(event)
    known = event.total_lag or not is_least
    return Figure(event.total_lag, event.evaluated_at, is_least) if known else None


def is_lag_least(event: LagEvent) -> bool:
    """Whether the lag of some partition that counts is unknown, or only known at least."""
    if event.unknown_partitions:
        return True
    bounds = {topic for topic, columns in event.topics.items() if has_bounds(columns)}
    return bool(bounds) and not bounds <= topics_not_counted(event)


def is_at_least(lag: int | None, committed: int, log_start: int, log_end: int) -> bool:
    """An empty log has nothing to read, whoever has committed."""
    return lag is not None and committed < 0 and log_start != log_end


def has_bounds(columns: TopicLag) -> bool:
    """Whether the lag of some partition is only known to be at least so much."""
    if min(columns.committed, default=0) >= 0:
        return False
    rows = zip(columns.lag, columns.committed, columns.log_start, columns.log_end, strict=True)
    return any(is_at_least(*row) for row in rows)


def loss_in(freshness: FreshnessEvent, lag: LagEvent) -> int | None:
    """Milliseconds from the measurement until the first loss, or the next one, where that runs
    down: a group that reads on is in no danger, however short the retention is.
    """
    return min((left for left, _ in _running_down(freshness, lag)), default=None)


def loses_in(freshness: FreshnessEvent, lag: LagEvent) -> int | None:
    """The same, where it comes within the hour."""
    nearest = freshness.time_to_loss_ms
    if nearest is None or nearest >= SOON_MS:  # nearly always: no partition is looked at
        return None
    found = _running_down(freshness, lag)
    return min((left for left, caught_up in found if is_soon(left, caught_up)), default=None)


def _running_down(freshness: FreshnessEvent, lag: LagEvent) -> Iterator[tuple[int, int | None]]:
    """Of each partition, and until when it is caught up; milliseconds."""
    for topic, rows in freshness.topics.items():
        judged = lag.topics.get(topic)
        known = () if judged is None else zip(judged.partition, judged.status, strict=True)
        still = {partition for partition, status in known if status in _STILL}
        for row, partition in enumerate(rows.partition):
            left, share = rows.time_to_loss_ms[row], rows.retention_left[row]
            late = rows.freshness_ms[row]
            late = rows.bound_ms[row] if late is None else late
            if left is not None and runs_out(left, share, late, stands_still=partition in still):
                yield left, rows.time_to_catch_up_ms[row]


def deleted_of(freshness: FreshnessEvent) -> str:
    """What retention has deleted before it was consumed, in words; empty where nothing."""
    if not freshness.lost_records:
        return ""
    losing = [
        (lost, f"{topic}/{partition}")
        for topic, rows in freshness.topics.items()
        for partition, lost in zip(rows.partition, rows.lost_records, strict=True)
        if lost
    ]
    _, place = max(losing, key=lambda one: one[0], default=(0, ""))
    return deleted(freshness.lost_records, place, len(losing))
