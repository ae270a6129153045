"""Records that retention deletes before they are consumed: when that begins, and how many are lost.
Pure.
"""

from collections.abc import Iterable, Iterator

from warren.contracts import FreshnessEvent, LagEvent, StatusChange
from warren.loss_words import LOST_RECORDS, NEAR_LOSS
from warren_core.objectives.near_loss import runs_out

LOST_CAUSE = "records_lost"
_STILL = ("STOP", "STALL")
"""Statuses of partitions of which nothing is read."""


def loss_in(freshness: FreshnessEvent, lag: LagEvent) -> int | None:
    """Milliseconds from the measurement until the first loss, where that runs down: a group that
    reads on is in no danger, however short the retention is. 0 while records are lost.
    """
    return 0 if freshness.lost_records else min(_running_down(freshness, lag), default=None)


def _running_down(freshness: FreshnessEvent, lag: LagEvent) -> Iterator[int]:
    for topic, rows in freshness.topics.items():
        judged = lag.topics.get(topic)
        known = () if judged is None else zip(judged.partition, judged.status, strict=True)
        still = {partition for partition, status in known if status in _STILL}
        for row, partition in enumerate(rows.partition):
            left, share = rows.time_to_loss_ms[row], rows.retention_left[row]
            late = rows.freshness_ms[row]
            late = rows.bound_ms[row] if late is None else late
            if left is not None and runs_out(left, share, late, stands_still=partition in still):
                yield left


def lost_records(changes: Iterable[StatusChange]) -> int:
    """How many are lost, as far as conditions of one group say it."""
    return round(max((count for change in changes for count in _lost(change)), default=0))


def _lost(change: StatusChange) -> Iterator[float]:
    for breach in change.objectives or ():
        if breach.limit == LOST_RECORDS:
            yield breach.value or 0
    cause = change.cause
    for found in () if cause is None else (cause, *cause.also):
        if found.name == LOST_CAUSE:
            yield found.evidence.lost_records or 0


def said_already(changes: Iterable[StatusChange]) -> set[str]:
    """Limits and consequences of a group that need not be told: another fact says the same."""
    changes = list(changes)
    limits = {breach.limit for change in changes for breach in change.objectives or ()}
    causes = [change.cause for change in changes if change.cause is not None]
    roots = {cause.name for cause in causes}
    needless = set()
    if LOST_CAUSE in roots:
        needless.add(LOST_RECORDS)
    elif LOST_RECORDS in limits:
        needless.add(LOST_CAUSE)
    seen = {*limits, *roots, *(found.name for cause in causes for found in cause.also)}
    if seen & {LOST_CAUSE, LOST_RECORDS}:
        needless.add(NEAR_LOSS)
    return needless
