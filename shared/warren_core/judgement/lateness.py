"""Lateness: how late a group is, in time, as far as the cause of its trouble may lie there.

Of a group, and of the worst of its partitions: as many bytes for a huge group as for a large one.
"""

import heapq
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from warren.contracts import FreshnessEvent, OpenTransaction

MOST_PARTITIONS = 20
MOST_TRANSACTIONS = 20
MOST_AT_CONTROL_RECORDS = 100
_NO_LOSS = 2**63


class LatePartition(NamedTuple):
    """A row of TopicFreshness, as `warren.contracts` defines it."""

    topic: str
    partition: int
    committed: int
    freshness_ms: int | None
    lost_records: int
    reason: str


@dataclass(frozen=True)
class Lateness:
    """The newest that was measured of a group. Milliseconds, and records a second."""

    measured_at: int
    late_ms: int | None
    """How late the group is, at least; None: nobody knows."""
    time_to_loss_ms: int | None
    produce_rate: float | None
    consume_rate: float | None
    worst_first: tuple[LatePartition, ...]
    """Partitions that have not consumed all: those that lost records, then those that will soonest,
    then the latest."""
    held_up: tuple[OpenTransaction, ...]
    """What the group has come to."""
    nothing_left: tuple[tuple[str, int, int], ...]
    """Topic, partition and committed offset where only control and aborted records follow."""


def late_ms(freshness_ms: int | None, at_least_ms: int | None) -> int | None:
    """How late a group is, at least, by what was measured of it; None: nobody knows."""
    return max((ms for ms in (freshness_ms, at_least_ms) if ms is not None), default=None)


def lateness_of(event: FreshnessEvent) -> Lateness:
    found = [
        (-rows.lost_records[n], _NO_LOSS if left is None else left, -(age or bound or 0), topic, n)
        for topic, rows in event.topics.items()
        if not rows.all_at_ease
        for n, (left, age, bound) in enumerate(
            zip(rows.time_to_loss_ms, rows.freshness_ms, rows.bound_ms, strict=True)
        )
        if not rows.is_at_ease(n)
    ]
    of_rows = LatePartition._fields[1:]
    nothing_left = (
        (topic, rows.partition[number], rows.committed[number])
        for topic, rows in event.topics.items()
        for number, reason in enumerate(rows.reason)
        if reason == "control_only"
    )
    return Lateness(
        measured_at=event.measured_at,
        late_ms=late_ms(event.freshness_ms, event.at_least_ms),
        time_to_loss_ms=event.time_to_loss_ms,
        produce_rate=event.produce_rate,
        consume_rate=event.consume_rate,
        worst_first=tuple(
            LatePartition(topic, *(getattr(event.topics[topic], name)[n] for name in of_rows))
            for *_, topic, n in heapq.nsmallest(MOST_PARTITIONS, found)
        ),
        held_up=tuple(event.open_transactions[:MOST_TRANSACTIONS]),
        nothing_left=tuple(islice(nothing_left, MOST_AT_CONTROL_RECORDS)),
    )


def from_fields(fields: dict[str, Any]) -> Lateness:
    """As pydantic writes one to JSON. Raises TypeError, ValueError or KeyError for what is none."""
    read = {
        "worst_first": tuple(LatePartition(*row) for row in fields["worst_first"]),
        "held_up": tuple(OpenTransaction(**one) for one in fields["held_up"]),
        "nothing_left": tuple((topic, row, at) for topic, row, at in fields["nothing_left"]),
    }
    return Lateness(**{**fields, **read})
