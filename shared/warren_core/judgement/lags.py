"""Lags of the partitions: now, of the commits in the windows, and what they are judged by.

`steps`: from the committed offsets to those that are read next, 0 or 1; [partition], or for all.
"""

from __future__ import annotations

import numpy as np

from warren_core.evaluation import UNKNOWN, Int64, Windows
from warren_core.judgement.state import GroupState, Latest


def lag_of(latest: Int64, steps: Int64 | int = 0) -> Int64:
    """Log end - offset that is read next, at least 0; UNKNOWN when either is."""
    committed, log_end = latest[Latest.COMMITTED], latest[Latest.LOG_END]
    known = (committed >= 0) & (log_end >= 0)
    return np.where(known, np.maximum(log_end - committed - steps, 0), UNKNOWN)


def lag_of_commits(latest: Int64, log_end_before: Int64, steps: Int64 | int = 0) -> Int64:
    """The lag, but 0 where a commit reached the log end remembered before the newest.

    That is 5 or 10 s old by default, as Burrow's is 10 s at most when it takes a commit in: a
    consumer that keeps up with a steady producer is not behind, although there always is something
    new when one looks.
    """
    lag, next_offset = lag_of(latest, steps), latest[Latest.COMMITTED] + steps
    caught_up = (log_end_before != UNKNOWN) & (next_offset >= log_end_before) & (lag != UNKNOWN)
    return np.where(caught_up, 0, lag)


def least_lag_of(latest: Int64, windows: Windows, lag: Int64, steps: Int64 | int = 0) -> Int64:
    """The lag that a partition is judged by: that of now or, while no broker says where the log
    ends, the one that follows from where it last ended. Logs only grow, so it is at least that.
    """
    if (lag != UNKNOWN).all():  # as nearly always
        return lag
    then = latest.copy()
    then[Latest.LOG_END] = windows.log_ends[:, -1]
    return np.where(lag == UNKNOWN, lag_of(then, steps), lag)


def lag_before(known: GroupState | None, updated: GroupState) -> Int64 | None:
    """[partition of the updated state] the lag before the update; UNKNOWN in those that are new."""
    if known is None:
        return None
    rows = known.layout.rows_of(updated.layout)
    lag = np.append(lag_of(known.latest, known.steps), UNKNOWN)  # MISSING is the last one
    return lag[rows]
