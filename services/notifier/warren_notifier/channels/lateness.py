"""How late a group is and when it loses data, as a status change says it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from warren.contracts import StatusChange


def lateness_ms(change: StatusChange) -> int | None:
    """How late the group is, at least. Evaluators that do not say it of the whole group may say it
    of an objective or a cause.
    """
    if change.late_ms is not None:
        return change.late_ms
    measured = list(_measured(change, "max_freshness"))
    if change.cause is not None and change.cause.evidence.freshness_ms is not None:
        measured.append(change.cause.evidence.freshness_ms)
    return max(measured, default=None)


def time_to_loss_ms(change: StatusChange) -> int | None:
    """Until retention deletes what the group has not consumed; likewise."""
    if change.time_to_loss_ms is not None:
        return change.time_to_loss_ms
    return min(_measured(change, "min_time_to_loss"), default=None)


def _measured(change: StatusChange, limit: str) -> Iterator[int]:
    for breach in change.objectives or []:
        if breach.limit == limit and breach.value is not None:
            yield round(breach.value)
