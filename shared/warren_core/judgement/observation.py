"""Observation: an offset event's lists as columns, laid out by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from warren.contracts.offset_event import OffsetEvent, TopicPositions
from warren.errors import ContractViolation
from warren.words import LATEST_MOMENT  # keeps differences of times within 64 bits, too

from warren_core.evaluation import MAX_TIME, UNKNOWN, Int64, presence_of
from warren_core.judgement.layout import Layout
from warren_core.judgement.state import Latest

_COLUMNS = {
    Latest.COMMITTED: "committed",
    Latest.COMMITTED_AT: "committed_at",
    Latest.LOG_START: "log_start",
    Latest.LOG_END: "log_end",
}
MAX_PARTITION = 2**31 - 1
MOST_PARTITIONS = 1_000_000  # of a topic, for who has a row for each number: a cluster has fewer


@dataclass(frozen=True, slots=True)
class Observation:
    """What one event says of N partitions, or what one event of each of several groups does."""

    rows: Int64  # [N]
    latest: Int64  # [Latest, N]
    commits: Int64  # [N] how many are folded into this event
    at: int | Int64  # when it was observed: for all, or [N]
    order: int | Int64  # of its commits among those of their partition: for all, or [N]
    presence: int | Int64  # of members: a Presence, for all, or [N]
    last_stable: int | Int64  # for all, or [N]; UNKNOWN where it was not asked for


def check_ranges(event: OffsetEvent) -> None:
    """Raises ContractViolation for numbers that Kafka cannot have meant."""
    if not 0 <= event.observed_at <= LATEST_MOMENT:
        raise ContractViolation(f"observed_at: {event.observed_at} is no Unix time in milliseconds")
    if event.position >= 2**63:
        raise ContractViolation("position: beyond 64 bits")
    for topic, positions in event.topics.items():
        if positions.partition and max(positions.partition) > MAX_PARTITION:
            raise ContractViolation(f"topics.{topic}.partition: beyond 32 bits")


def check_columns(event: OffsetEvent) -> None:
    """For who has no `observe`. Raises ContractViolation for a column that is beyond 64 bits, and
    for a partition that no topic has.
    """
    for topic, positions in event.topics.items():
        if positions.partition and max(positions.partition) >= MOST_PARTITIONS:
            problem = f"no topic has {max(positions.partition)} partitions"
            raise ContractViolation(f"topics.{topic}.partition: {problem}")
        for name in _COLUMNS.values():
            column = getattr(positions, name)
            if column and not -(2**63) <= min(column) <= max(column) < 2**63:
                raise ContractViolation(f"topics.{topic}.{name}: beyond 64 bits")


def observe(event: OffsetEvent, layout: Layout) -> Observation:
    """The layout must have all partitions of the event. Raises ContractViolation."""
    count = sum(len(positions.partition) for positions in event.topics.values())
    rows = np.empty(count, np.int64)
    latest = np.empty((len(Latest), count), np.int64)
    commits = np.empty(count, np.int64)
    start = 0
    for topic, positions in event.topics.items():
        part = slice(start, start + len(positions.partition))
        rows[part] = layout.rows(topic, positions.partition)
        _fill(topic, positions, latest[:, part], commits[part])
        start = part.stop
    presence = presence_of(event.group_state)
    return Observation(
        rows,
        bounded(latest),
        commits,
        event.observed_at,
        order_of(event),
        presence,
        last_stable_of(event.topics.values()),
    )


def bounded(latest: Int64) -> Int64:
    """Commit times are the clients' own; silly ones must not wrap around when they are subtracted.

    Changes them in place.
    """
    np.clip(latest[Latest.COMMITTED_AT], -MAX_TIME, MAX_TIME, out=latest[Latest.COMMITTED_AT])
    return latest


def order_of(event: OffsetEvent) -> int:
    """What orders the commits of an event among those of others of the same source."""
    return event.observed_at if event.position < 0 else event.position


def last_stable_of(topics: Iterable[TopicPositions]) -> int | Int64:
    """As told of all of their partitions, in that order. Raises ContractViolation."""
    told = list(topics)
    if all(columns.last_stable is None for columns in told):
        return UNKNOWN
    none = [[UNKNOWN] * len(columns.partition) for columns in told]
    parts = [columns.last_stable or less for columns, less in zip(told, none, strict=True)]
    try:
        return np.array(list(chain.from_iterable(parts)), np.int64)
    except OverflowError as error:
        raise ContractViolation("last_stable: beyond 64 bits") from error


def _fill(topic: str, positions: TopicPositions, latest: Int64, commits: Int64) -> None:
    name = ""
    try:
        for column, name in _COLUMNS.items():
            latest[column] = getattr(positions, name)
        name = "commits"
        commits[:] = positions.commits
    except OverflowError as error:
        raise ContractViolation(f"topics.{topic}.{name}: beyond 64 bits") from error
