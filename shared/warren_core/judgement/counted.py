"""What counts of a measurement: all topics, but for those that nobody is to read or that the owner
wants ignored. A group's own figures are those of the topics that count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from warren.contracts import (
    FreshnessEvent,
    LagEvent,
    TimeToLossReason,
    TopicFreshness,
    WorstFreshness,
)
from warren.contracts.reason import NOT_COUNTED


class _Late(NamedTuple):
    """How late a partition is, or at least is."""

    ms: int
    topic: str
    partition: int
    at_least: bool


def topics_not_counted(event: LagEvent) -> frozenset[str]:
    """Topics of an evaluation that count in no total, no ranking and no objective."""
    return frozenset(
        topic
        for topic, columns in event.topics.items()
        if any(reason in columns.reason for reason in NOT_COUNTED)
    )


def without(event: FreshnessEvent, topics: Collection[str]) -> FreshnessEvent:
    """The measurement as if the group had never read these topics."""
    kept = {topic: rows for topic, rows in event.topics.items() if topic not in topics}
    if len(kept) == len(event.topics):
        return event
    every = list(kept.values())
    late = max(_late(kept), default=None, key=lambda each: each.ms)
    worst = None
    if late is not None:
        worst = WorstFreshness(
            topic=late.topic,
            partition=late.partition,
            freshness_ms=late.ms,
            at_least=late.at_least,
        )
    is_unknown = any(
        value is None and reason != "no_commit"
        for rows in every
        for value, reason in zip(rows.freshness_ms, rows.reason, strict=True)
    )
    return event.model_copy(
        update={
            "freshness_ms": max(_known(rows.freshness_ms for rows in every), default=None),
            "lost_records": sum(sum(rows.lost_records) for rows in every),
            "time_to_loss_ms": min(_known(rows.time_to_loss_ms for rows in every), default=None),
            "time_to_loss_reason": _loss_reason(every),
            "at_least_ms": worst.freshness_ms if worst and is_unknown else None,
            "produce_rate": _sum(rows.produce_rate for rows in every),
            "consume_rate": _sum(rows.consume_rate for rows in every),
            "time_to_catch_up_ms": _catch_up(every),
            "retention_left": min((share for r in every for share in _floats(r)), default=None),
            "worst": worst,
            "open_transactions": [o for o in event.open_transactions if o.topic in kept],
            "topics": kept,
        }
    )


def _known(columns: Iterable[Sequence[int | None]]) -> list[int]:
    return [value for column in columns for value in column if value is not None]


def _floats(rows: TopicFreshness) -> list[float]:
    return [share for share in rows.retention_left if share is not None]


def _sum(columns: Iterable[Sequence[float | None]]) -> float | None:
    known = [value for column in columns for value in column if value is not None]
    return round(sum(known), 3) if known else None


def _late(topics: dict[str, TopicFreshness]) -> Iterator[_Late]:
    for topic, rows in topics.items():
        figures = zip(rows.partition, rows.freshness_ms, rows.bound_ms, strict=True)
        for partition, value, bound in figures:
            ms = bound if value is None else value
            if ms is not None:
                yield _Late(ms, topic, partition, value is None)


def _catch_up(every: Sequence[TopicFreshness]) -> int | None:
    left = [
        ms
        for rows in every
        for ms, reason in zip(rows.time_to_catch_up_ms, rows.reason, strict=True)
        if reason != "no_commit"
    ]
    known = [ms for ms in left if ms is not None]
    return max(known, default=None) if len(known) == len(left) else None


def _loss_reason(every: Sequence[TopicFreshness]) -> TimeToLossReason | None:
    """Why that of some partition is not known; else that of the smallest."""
    told = [
        (-1 if ms is None else ms, reason)
        for rows in every
        for ms, reason in zip(rows.time_to_loss_ms, rows.time_to_loss_reason, strict=True)
        if reason is not None
    ]
    return min(told, default=(0, None), key=lambda each: each[0])[1]
