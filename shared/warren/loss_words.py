"""The words for records that retention deletes: causes, objectives and pages say it in one way."""

from collections.abc import Iterable
from typing import Protocol

from warren.words import clock, counted, duration, grouped

LOST_RECORDS, NEAR_LOSS = "lost_records", "min_time_to_loss"
LOSS_LIMITS = frozenset((LOST_RECORDS, NEAR_LOSS))
"""Limits of objectives that are about one fact: what retention deletes unread."""


class Broken(Protocol):
    """A limit that is not kept, as contracts have it."""

    @property
    def limit(self) -> str: ...
    @property
    def topic(self) -> str | None: ...


def deleted(count: int, place: str, partitions: int = 1) -> str:
    """`3,110 unread records deleted by retention (orders/0 and 2 more)`.

    `place`: the partition that has lost most, of so many `partitions`; empty where unknown.
    """
    more = f" and {grouped(partitions - 1)} more" if partitions > 1 else ""
    where = f" ({place}{more})" if place else ""
    return f"{counted(count, 'unread record')} deleted by retention{where}"


def after_loss(topic: str = "") -> str:
    """Say what to do once records are lost, whatever the root is; `topic`: of one of them."""
    of_topic = f" of {topic}" if topic else ""
    fix = f"Raise retention.ms{of_topic} now, then fix the consumer"
    return f"{fix}; deleted records cannot be recovered"


def before_loss(topic: str = "") -> str:
    """Say what to do before records are lost, likewise."""
    of_topic = f" of {topic}" if topic else ""
    return f"Raise retention.ms{of_topic} until the group has caught up"


def loss_step(broken: Iterable[Broken]) -> str:
    """Say what to do of a loss, now or to come; empty where there is none."""
    topics = {each.limit: each.topic or "" for each in broken}
    if LOST_RECORDS in topics:
        return after_loss(topics[LOST_RECORDS])
    return before_loss(topics[NEAR_LOSS]) if NEAR_LOSS in topics else ""


def running_out(place: str, left_ms: float, limit_ms: float, now: int) -> str:
    """`orders/0 may lose unread records at 07:22 UTC (in 30m; limit 1h)`.

    `left_ms`: until then from `now`, Unix milliseconds.
    """
    limit = f"limit {duration(limit_ms)}"
    if left_ms < 1000:
        return f"{place} may lose unread records now ({limit})"
    at = clock(now + round(left_ms), now)
    return f"{place} may lose unread records at {at} (in {duration(left_ms)}; {limit})"
