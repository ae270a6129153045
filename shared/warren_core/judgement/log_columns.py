"""What events tell of the partitions' logs that is not kept: who leads them, how far they are
stable. Of a group that is told in parts it is remembered until the last one is there.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from warren.contracts.offset_event import OffsetEvent

from warren_core.evaluation import UNKNOWN, Int64
from warren_core.judgement.layout import Layout


class LogColumn(IntEnum):
    """UNKNOWN where nobody told, and where there is no leader, or no open transaction."""

    LEADER = 0
    LAST_STABLE = 1


_NAMES = {LogColumn.LEADER: "leader", LogColumn.LAST_STABLE: "last_stable"}


def logs_told(event: OffsetEvent, layout: Layout, before: Int64 | None = None) -> Int64:
    """[LogColumn, partition] with what was told before of others."""
    logs = before
    if logs is None:
        logs = np.full((len(LogColumn), len(layout)), UNKNOWN, np.int64)
    for topic, positions in event.topics.items():
        rows = layout.rows(topic, positions.partition)
        for column, name in _NAMES.items():
            if (values := getattr(positions, name)) is not None:
                logs[column, rows[rows >= 0]] = np.array(values, np.int64)[rows >= 0]
    return logs


def logs_of_parts(event: OffsetEvent, layout: Layout, before: Int64 | None, rows: Int64) -> Int64:
    """With what the parts before this one told; `rows`: of the layout, in that of before."""
    logs = np.full((len(LogColumn), len(layout)), UNKNOWN, np.int64)
    if before is not None and event.part:
        logs[:, rows >= 0] = before[:, rows[rows >= 0]]
    return logs_told(event, layout, logs)
