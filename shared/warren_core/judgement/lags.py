"""Lags: how much of their logs partitions have left, at least, and where that is not known."""

import numpy as np

from warren_core.evaluation import UNKNOWN, Bools, Int64, Windows
from warren_core.evaluation.track import LATE_LOOK
from warren_core.judgement.assumed import settled
from warren_core.judgement.columns import Latest


def lag_of(latest: Int64, steps: Int64 | int = 0) -> Int64:
    """[partition] what can be read: log end - offset that is read next, or the log's start where
    that was deleted, at least 0; UNKNOWN when offset or end is. `steps`: from the committed offsets
    to those that are read next, 0 or 1; [partition], or for all.
    """
    committed, log_end = latest[Latest.COMMITTED], latest[Latest.LOG_END]
    known = (committed >= 0) & (log_end >= 0)
    first = np.maximum(committed + steps, latest[Latest.LOG_START])
    return np.where(known, np.maximum(log_end - first, 0), UNKNOWN)


def behind_of(latest: Int64, steps: Int64 | int = 0) -> Int64:
    """[partition] the same from the offset on, whatever was deleted: lag as Burrow has it."""
    whole = latest.copy()
    whole[Latest.LOG_START] = UNKNOWN
    return lag_of(whole, steps)


def least_lag_of(latest: Int64, windows: Windows, lag: Int64, steps: Int64 | int = 0) -> Int64:
    """The lag that a partition is judged by: that of now or, while no broker says where the log
    ends, the one that follows from where it last ended. Logs only grow, so it is at least that.
    """
    if (lag != UNKNOWN).all():  # as nearly always
        return lag
    then = settled(latest, windows).copy()
    then[Latest.LOG_END] = windows.log_ends[:, -1]
    return np.where(lag == UNKNOWN, lag_of(then, steps), lag)


def unknown_of(latest: Int64, windows: Windows, now_ms: int | Int64, pace_ms: int | Int64) -> Bools:
    """[partition] the group has committed in it, and nobody says where its log ends, for longer
    than a look is only late. `windows` have the log ends of now already.
    """
    in_vain = (latest[Latest.COMMITTED] >= 0) & (latest[Latest.LOG_END] < 0)
    for_long: Bools = in_vain & (now_ms - windows.log_ends_at > LATE_LOOK * pace_ms)
    return for_long
