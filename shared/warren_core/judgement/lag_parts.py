"""Lag events in parts: a huge group's does not fit into one record of Kafka's."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import add, itemgetter
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel
from warren.contracts import LagEvent, TopicLag

from warren_core.evaluation import UNKNOWN, Int64
from warren_core.evaluation.packed_windows import Commits, pack_commits, unpack

MOST_PARTITIONS = 8000
"""In one part; about 350 bytes each, more where something is wrong with it."""
Columns = TypeVar("Columns", bound=BaseModel)


def in_parts(event: LagEvent, most_bytes: int) -> list[bytes]:
    """The event as values of records, none larger than `most_bytes` if that is possible at all."""
    rows = sum(len(columns.partition) for columns in event.topics.values())
    count = max(math.ceil(rows / MOST_PARTITIONS), 1)
    while True:
        values = [part.to_bytes() for part in split(event, count)]
        if count >= rows or all(len(value) <= most_bytes for value in values):
            return values
        count = min(2 * count, rows)


def split(event: LagEvent, count: int) -> Iterator[LagEvent]:
    """So many parts, with about the same number of partitions."""
    if count == 1:
        yield event
        return
    rows = sum(len(columns.partition) for columns in event.topics.values())
    commits = _commits(event)
    for part, (first, last) in enumerate(pairwise(rows * n // count for n in range(count + 1))):
        windows = None
        if commits:
            some = Commits(commits.columns[:, first:last], commits.filled[first:last])
            windows = pack_commits(some)
        yield event.model_copy(
            update={
                "part": part,
                "parts": count,
                "topics": dict(_topics(event, first, last)),
                "windows": windows,
            }
        )


def joined(parts: Sequence[LagEvent]) -> LagEvent:
    """All parts of one evaluation, in order, as the whole. Raises ContractViolation."""
    topics: dict[str, TopicLag] = {}
    for part in parts:
        for topic, columns in part.topics.items():
            known = topics.get(topic)
            topics[topic] = columns if known is None else _each(add, known, columns)
    commits = [some for some in map(_commits, parts) if some is not None]
    windows = None
    if len(commits) == len(parts):
        packed = Commits(
            np.concatenate([some.columns for some in commits], axis=1),
            np.concatenate([some.filled for some in commits]),
        )
        windows = pack_commits(packed)
    return parts[0].model_copy(update={"part": 0, "parts": 1, "topics": topics, "windows": windows})


def newest_commits(event: LagEvent) -> Int64:
    """[offset, committed_at, observed_at, lag][partition], by topic and number."""
    ends = [event.topics[topic].window_end for topic in sorted(event.topics)]
    columns = [
        [UNKNOWN if value is None else value for end in ends for value in getattr(end, name)]
        for name in ("offset", "at", "observed_at", "lag")
    ]
    return np.array(columns, np.int64).reshape(4, -1)


def _commits(event: LagEvent) -> Commits | None:
    return None if event.windows is None else unpack(event.windows, newest_commits(event))


def _topics(event: LagEvent, first: int, last: int) -> Iterator[tuple[str, TopicLag]]:
    """The topics with rows from `first` up to, not including, `last`."""
    start = 0
    for topic in sorted(event.topics):
        columns = event.topics[topic]
        end = start + len(columns.partition)
        if start < last and end > first:
            yield topic, _each(itemgetter(slice(max(first - start, 0), last - start)), columns)
        start = end


def _each(of: Callable[..., Any], *columns: Columns) -> Columns:
    """Columns of which each is made of those of its name."""
    made = {}
    for name, value in columns[0]:
        values = [getattr(each, name) for each in columns]
        made[name] = _each(of, *values) if isinstance(value, BaseModel) else of(*values)
    return columns[0].model_construct(None, **made)
