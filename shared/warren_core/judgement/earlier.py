"""What was before: log ends and commits that a collector tells with the first event of a position.

They are taken in only where nothing is known yet. What was seen here is never touched, so that a
collector that was restarted changes nothing.
"""

from __future__ import annotations

import math

import numpy as np
from warren.contracts import EarlierPositions, OffsetEvent
from warren.errors import ContractViolation

from warren_core.evaluation import MAX_TIME, UNKNOWN, Column, Int64, Windows
from warren_core.judgement.layout import MISSING, Layout
from warren_core.judgement.state import Latest

APART_MS = 10_000
"""Between two of the log ends that an event tells of before: as the contract says, and Burrow."""


def recall(
    windows: Windows, layout: Layout, latest: Int64, event: OffsetEvent, apart_ms: int
) -> None:
    """`latest` is what the event says, [Latest, partition]; `apart_ms` is between two log ends that
    windows remember. Raises ContractViolation.
    """
    # As long as those after will be; two at least: the newest may be younger than the commit.
    kept = max(math.ceil(windows.intervals * apart_ms / APART_MS), 2)
    order = event.observed_at if event.position < 0 else event.position
    for topic, earlier in (event.earlier or {}).items():
        rows = layout.rows(topic, earlier.partition)
        for index in np.flatnonzero(rows != MISSING).tolist():
            row = int(rows[index])
            try:
                if windows.log_ends_at[row] == UNKNOWN:
                    ends = np.array(earlier.log_end[index][-kept:], np.int64)
                    windows.recall_log_ends(row, ends)
                if not windows.filled[row] and latest[Latest.COMMITTED, row] >= 0:
                    commits = _commits(earlier, index, int(latest[Latest.LOG_END, row]))
                    commits[Column.OBSERVED_AT] = event.observed_at
                    commits[Column.ORDER] = order - np.arange(commits.shape[1], 0, -1)
                    windows.fill(row, commits)
            except OverflowError as error:
                raise ContractViolation(f"earlier.{topic}: beyond 64 bits") from error


def _commits(earlier: EarlierPositions, index: int, log_end: int) -> Int64:
    """[column, commit]. As Burrow when it begins, by the log end of now: nobody knows that of then.
    One that had reached the newest of the ends before now was not behind.
    """
    offset = np.array(earlier.committed[index], np.int64)
    commits = np.empty((len(Column), len(offset)), np.int64)
    commits[Column.OFFSET] = offset
    times = np.array(earlier.committed_at[index], np.int64)
    commits[Column.COMMITTED_AT] = np.clip(times, -MAX_TIME, MAX_TIME)
    before = max(earlier.log_end[index][-1:], default=log_end)
    lag = np.where(offset >= before, 0, np.maximum(log_end - offset, 0))
    commits[Column.LAG] = UNKNOWN if log_end == UNKNOWN else lag
    return commits
