"""Where groups stand: they are behind, and commit what they had committed when last told of."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from warren_collector.logs.ends import LogEnds
from warren_collector.positions.columns import Int64s, PositionColumns
from warren_collector.positions.group import Group


def standing(groups: Iterable[Group], columns: PositionColumns, ends: LogEnds) -> dict[str, Int64s]:
    """Partitions, by topic, in which one of the groups stands."""
    marked: dict[str, NDArray[np.bool_]] = {}
    for group in groups:
        for topic, rows in group.topics.items():
            log = ends.topics.get(topic)
            if log is None:
                continue
            chosen = rows.rows(len(log.end))
            offset = columns.offset[chosen]
            stands = (offset == columns.told_offset[chosen]) & (offset >= 0) & (offset < log.end)
            if stands.any():
                known = marked.get(topic)
                marked[topic] = stands if known is None else known | stands
    return {topic: np.flatnonzero(marks) for topic, marks in marked.items()}
