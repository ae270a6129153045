"""What events of many groups say, as one observation: rows of one group after the other's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from warren.contracts import OffsetEvent
from warren.errors import ContractViolation
from warren.words import LATEST_MOMENT

from warren_core.evaluation import Int64, presence_of
from warren_core.judgement.layout import Layout
from warren_core.judgement.observation import Observation, bounded, last_stable_of, order_of
from warren_core.judgement.state import Latest


def observe_together(
    events: Sequence[OffsetEvent], layouts: Sequence[Layout], starts: Int64, named: Sequence[int]
) -> Observation:
    """Of an event of each group, whose rows begin at `starts`; `named`: how many partitions each
    tells of.

    Raises ContractViolation or OverflowError.
    """
    now = np.array([event.observed_at for event in events])
    if int(now.min()) < 0 or int(now.max()) > LATEST_MOMENT:
        raise ContractViolation("observed_at: no Unix time in milliseconds")
    topics = [columns for event in events for columns in event.topics.values()]
    latest = np.empty((len(Latest), sum(named)), np.int64)
    latest[Latest.COMMITTED] = _column(columns.committed for columns in topics)
    latest[Latest.COMMITTED_AT] = _column(columns.committed_at for columns in topics)
    latest[Latest.LOG_START] = _column(columns.log_start for columns in topics)
    latest[Latest.LOG_END] = _column(columns.log_end for columns in topics)
    return Observation(
        _rows(events, layouts, starts),
        bounded(latest),
        _column(columns.commits for columns in topics),
        np.repeat(now, named),
        np.repeat(np.array([order_of(event) for event in events], np.int64), named),
        np.repeat(_presences(events), named),
        last_stable_of(topics),
    )


def _rows(events: Sequence[OffsetEvent], layouts: Sequence[Layout], starts: Int64) -> Int64:
    """Of what the events say, in their order. Most say it of all partitions."""
    both = list(zip(events, layouts, strict=True))
    if all(_is_whole(event, layout) for event, layout in both):
        return np.arange(sum(map(len, layouts)))
    rows = [
        layout.rows(topic, columns.partition) + start
        for (event, layout), start in zip(both, starts.tolist(), strict=True)
        for topic, columns in event.topics.items()
    ]
    return np.concatenate(rows) if rows else np.zeros(0, np.int64)


def _is_whole(event: OffsetEvent, layout: Layout) -> bool:
    """Whether it tells of all partitions, in the order of the rows."""
    if len(event.topics) != len(layout.topics):
        return False
    pairs = zip(event.topics.items(), layout.topics.items(), strict=True)
    for (topic, columns), (known, partitions) in pairs:
        if topic != known or tuple(columns.partition) != partitions:
            return False
    return True


def _presences(events: Iterable[OffsetEvent]) -> Int64:
    return np.array([presence_of(event.group_state) for event in events], np.int64)


def _column(parts: Iterable[list[int]]) -> Int64:
    """Raises OverflowError."""
    return np.array(list(chain.from_iterable(parts)), np.int64)
