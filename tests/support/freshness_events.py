"""Freshness events, briefly written: a row for each partition of `orders`."""

from collections.abc import Mapping, Sequence
from typing import Any

from support.offset_events import NOW
from warren.contracts import FreshnessEvent, TopicFreshness

_COLUMNS: dict[str, Any] = {
    "committed": 100,
    "freshness_ms": 0,
    "reason": "caught_up",
    "bound_ms": 0,
    "lost_records": 0,
    "time_to_loss_ms": None,
    "time_to_loss_reason": None,
    "retention_left": None,
    "oldest_at": None,
    "commit_lag_ms": None,
    "append_lag_ms": None,
    "produce_rate": None,
    "consume_rate": None,
    "time_to_catch_up_ms": None,
    "late_since": None,
}
Row = Mapping[str, Any]
WELL: Row = {}
"""A partition with nothing left to consume."""


def late(freshness_ms: int | None, **more: Any) -> Row:
    """A partition that is so late."""
    return {"freshness_ms": freshness_ms, "reason": "exact", **more}


def freshness_event(at: int, *rows: Row, group: str = "billing", **more: Any) -> FreshnessEvent:
    """Measured `at` milliseconds after NOW; the group's figures follow from its partitions'."""
    topics: Mapping[str, Sequence[Row]] = more.pop("topics", {"orders": rows})
    every = [{**_COLUMNS, **row} for listed in topics.values() for row in listed]
    losses = [row["time_to_loss_ms"] for row in every if row["time_to_loss_ms"] is not None]
    known = [row["freshness_ms"] for row in every if row["freshness_ms"] is not None]
    unknown = [row["bound_ms"] or 0 for row in every if row["freshness_ms"] is None]

    def columns(listed: Sequence[Row]) -> dict[str, Any]:
        return {name: [{**_COLUMNS, **row}[name] for row in listed] for name in _COLUMNS}

    return FreshnessEvent(
        cluster="prod",
        group=group,
        **{
            "measured_at": NOW + at,
            "observed_at": NOW + at - 1000,
            "freshness_ms": max(known, default=None),
            "at_least_ms": max([*known, *unknown]) if unknown else None,
            "lost_records": sum(row["lost_records"] for row in every),
            "time_to_loss_ms": min(losses, default=None),
            **more,
        },
        topics={
            topic: TopicFreshness(partition=list(range(len(listed))), **columns(listed))
            for topic, listed in topics.items()
        },
    )
