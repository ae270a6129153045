"""Lateness: how late a group is, in time, as far as the cause of its trouble may lie there.

Of a group, and of the worst of its partitions: as many bytes for a huge group as for a large one.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from warren.contracts import FreshnessEvent, TimeToLossReason, TopicFreshness

MOST_PARTITIONS = 20
MOST_TRANSACTIONS = 20
MOST_AT_CONTROL_RECORDS = 100
_NO_LOSS = 2**63


class LatePartition(NamedTuple):
    """A row of TopicFreshness, as `warren.contracts` defines it."""

    topic: str
    partition: int
    committed: int
    reason: str
    freshness_ms: int | None
    bound_ms: int | None
    lost_records: int
    time_to_loss_ms: int | None
    time_to_loss_reason: TimeToLossReason | None
    retention_left: float | None
    late_since: int | None


class HeldUp(NamedTuple):
    """An open transaction that the group has come to."""

    topic: str
    partition: int
    first_offset: int
    since: int | None
    hanging: bool
    transactional_id: str | None
    producer_id: int | None


@dataclass(frozen=True)
class Lateness:
    """The newest that was measured of a group. Milliseconds, and records a second."""

    measured_at: int
    observed_at: int
    freshness_ms: int | None
    at_least_ms: int | None
    lost_records: int
    time_to_loss_ms: int | None
    time_to_loss_reason: TimeToLossReason | None
    retention_left: float | None
    produce_rate: float | None
    consume_rate: float | None
    time_to_catch_up_ms: int | None
    reasons: Mapping[str, int]
    """Partitions, by the reason of their value."""
    worst_first: tuple[LatePartition, ...]
    """Partitions that have not consumed all: those that lost records, then those that will soonest,
    then the latest."""
    held_up: tuple[HeldUp, ...]
    nothing_left: tuple[tuple[str, int, int], ...] = ()
    """Topic, partition and committed offset where only control and aborted records follow."""

    @property
    def late_ms(self) -> int | None:
        """How late the group is, at least; None: nobody knows."""
        return late_ms(self.freshness_ms, self.at_least_ms)

    @cached_property
    def by_partition(self) -> dict[tuple[str, int], LatePartition]:
        return {(late.topic, late.partition): late for late in self.worst_first}


def late_ms(freshness_ms: int | None, at_least_ms: int | None) -> int | None:
    """How late a group is, at least, by what was measured of it; None: nobody knows."""
    known = [ms for ms in (freshness_ms, at_least_ms) if ms is not None]
    return max(known, default=None)


def lateness_of(event: FreshnessEvent) -> Lateness:
    reasons = Counter(reason for rows in event.topics.values() for reason in rows.reason)
    found = [
        (-rows.lost_records[n], _NO_LOSS if left is None else left, -(age or bound or 0), topic, n)
        for topic, rows in event.topics.items()
        if not rows.all_at_ease
        for n, (left, age, bound) in enumerate(
            zip(rows.time_to_loss_ms, rows.freshness_ms, rows.bound_ms, strict=True)
        )
        if not rows.is_at_ease(n)
    ]
    worst = heapq.nsmallest(MOST_PARTITIONS, found)
    return Lateness(
        measured_at=event.measured_at,
        observed_at=event.observed_at,
        freshness_ms=event.freshness_ms,
        at_least_ms=event.at_least_ms,
        lost_records=event.lost_records,
        time_to_loss_ms=event.time_to_loss_ms,
        time_to_loss_reason=event.time_to_loss_reason,
        retention_left=event.retention_left,
        produce_rate=event.produce_rate,
        consume_rate=event.consume_rate,
        time_to_catch_up_ms=event.time_to_catch_up_ms,
        reasons={str(reason): count for reason, count in reasons.items()},
        worst_first=tuple(_row(topic, n, event.topics[topic]) for *_, topic, n in worst),
        held_up=tuple(
            HeldUp(
                one.topic,
                one.partition,
                one.first_offset,
                one.since,
                one.hanging,
                one.transactional_id,
                one.producer_id,
            )
            for one in event.open_transactions[:MOST_TRANSACTIONS]
        ),
        nothing_left=tuple(islice(_nothing_left(event), MOST_AT_CONTROL_RECORDS)),
    )


def _nothing_left(event: FreshnessEvent) -> Iterator[tuple[str, int, int]]:
    for topic, rows in event.topics.items():
        for number, reason in enumerate(rows.reason):
            if reason == "control_only":
                yield topic, rows.partition[number], rows.committed[number]


def _row(topic: str, n: int, rows: TopicFreshness) -> LatePartition:
    return LatePartition(
        topic,
        rows.partition[n],
        rows.committed[n],
        rows.reason[n],
        rows.freshness_ms[n],
        rows.bound_ms[n],
        rows.lost_records[n],
        rows.time_to_loss_ms[n],
        rows.time_to_loss_reason[n],
        rows.retention_left[n],
        rows.late_since[n],
    )


def fields_of(lateness: Lateness) -> dict[str, Any]:
    """As JSON can carry it."""
    return {name: getattr(lateness, name) for name in Lateness.__dataclass_fields__}


def from_fields(fields: dict[str, Any]) -> Lateness:
    """Raises TypeError or KeyError for what is none."""
    rows = tuple(LatePartition(*row) for row in fields["worst_first"])
    held_up = tuple(HeldUp(*row) for row in fields["held_up"])
    nothing_left = tuple((topic, number, at) for topic, number, at in fields["nothing_left"])
    read = {"worst_first": rows, "held_up": held_up, "nothing_left": nothing_left}
    return Lateness(**{**fields, **read})
