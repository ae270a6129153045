"""A group's freshness: what follows for it from the columns of its topics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from warren.contracts import TopicFreshness, WorstFreshness

Value = TypeVar("Value", int, float)


def figures_of(topics: Mapping[str, TopicFreshness]) -> dict[str, Any]:
    """The group's own fields of a FreshnessEvent, by name."""
    every = list(topics.values())
    worst = _worst(topics)
    # Of the slowest partition; None where one is not known.
    left = list(chain.from_iterable(rows.catch_up_ms for rows in every))
    known = [milliseconds for milliseconds in left if milliseconds is not None]
    # Why that of some partition is not known; else that of the smallest.
    told = [
        # None, that is unknown, comes before any number.
        (-1 if ms is None else ms, reason)
        for rows in every
        for ms, reason in zip(rows.time_to_loss_ms, rows.time_to_loss_reason, strict=True)
        if reason is not None
    ]
    return {
        "freshness_ms": max(_known(rows.freshness_ms for rows in every), default=None),
        "lost_records": sum(sum(rows.lost_records) for rows in every),
        "time_to_loss_ms": min(_known(rows.time_to_loss_ms for rows in every), default=None),
        "time_to_loss_reason": min(told, default=(0, None), key=lambda each: each[0])[1],
        # Where some partition has something to consume but no value.
        "at_least_ms": worst.freshness_ms
        if worst
        and any(
            value is None and not rows.is_unwritten(row)
            for rows in every
            for row, value in enumerate(rows.freshness_ms)
        )
        else None,
        "produce_rate": _sum(rows.produce_rate for rows in every),
        "consume_rate": _sum(rows.consume_rate for rows in every),
        "time_to_catch_up_ms": (max(known, default=None) if len(known) == len(left) else None),
        "retention_left": min(_known(rows.retention_left for rows in every), default=None),
        "worst": worst,
    }


def _known(columns: Iterable[Sequence[Value | None]]) -> list[Value]:
    return [value for value in chain.from_iterable(columns) if value is not None]


def _worst(topics: Mapping[str, TopicFreshness]) -> WorstFreshness | None:
    """The first of the latest partitions: by its value or, without one, by what it is at least."""
    late = max(_late(topics), default=None, key=lambda each: each[0])
    if late is None:
        return None
    ms, topic, partition, at_least = late
    return WorstFreshness(topic=topic, partition=partition, freshness_ms=ms, at_least=at_least)


def _late(topics: Mapping[str, TopicFreshness]) -> Iterator[tuple[int, str, int, bool]]:
    """How late, of which partition, and whether at least."""
    for topic, rows in topics.items():
        figures = zip(rows.partition, rows.freshness_ms, rows.bound_ms, strict=True)
        for partition, value, bound in figures:
            ms = bound if value is None else value
            if ms is not None:
                yield ms, topic, partition, value is None


def _sum(columns: Iterable[Sequence[float | None]]) -> float | None:
    known = _known(columns)
    return round(sum(known), 3) if known else None
