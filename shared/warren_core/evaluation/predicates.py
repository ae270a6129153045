"""The questions that the rules ask of a window, for all partitions at once, and how fast logs grow.

Each takes windows that hold at least one commit (the answer for an empty one means nothing), looks
at occupied slots only and skips unknown lags. Named for what is true when they are.
"""

import numpy as np
from numpy.typing import NDArray

from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64, Windows

Floats = NDArray[np.float64]

LEAST_MS = 1000
"""Over less time nobody can say how fast something goes."""
NO_REWIND = -1


def lag_always_above(windows: Windows, allowed_lag: int | Int64) -> Bools:
    """No known lag in the window is within the allowed one."""
    lag = windows.column(Column.LAG)
    within: Bools = (lag >= 0) & (
        lag <= (allowed_lag if isinstance(allowed_lag, int) else allowed_lag[:, None])
    )
    return ~_any(within)


def first_rewind(windows: Windows) -> Int64:
    """The slot of the first commit whose offset is below its predecessor's, or NO_REWIND."""
    offset = windows.column(Column.OFFSET)
    back = np.zeros(offset.shape, np.bool_)
    back[:, 1:] = (offset[:, 1:] < offset[:, :-1]) & _pairs(windows)
    return np.where(_any(back), back.argmax(axis=1), NO_REWIND)


def rewound(windows: Windows) -> Bools:
    """There is a rewind, and no commit since the first one got back to where it started."""
    slot = first_rewind(windows)
    is_back: Bools = slot != NO_REWIND
    if not is_back.any():
        return is_back
    offset = windows.column(Column.OFFSET)
    progress = np.take_along_axis(offset, np.maximum(slot - 1, 0)[:, None], axis=1)
    since = np.arange(windows.intervals) >= slot[:, None]
    return is_back & ~_any((offset >= progress) & since)


def stopped(windows: Windows, now_ms: int | Int64) -> Bools:
    """The newest commit is longer ago than the window is long."""
    newest, oldest = windows.newest(Column.COMMITTED_AT), windows.oldest(Column.COMMITTED_AT)
    silent: Bools = (now_ms - newest) > (newest - oldest)
    return silent


def stalled(windows: Windows) -> Bools:
    """All offsets are equal."""
    offset = windows.column(Column.OFFSET)
    return ~_any((offset[:, 1:] != offset[:, :-1]) & _pairs(windows))


def lag_never_decreasing(windows: Windows) -> Bools:
    """No known lag is smaller than the known one before it."""
    lag = windows.column(Column.LAG)
    slots = np.where(lag >= 0, np.arange(windows.intervals), 0)
    last_known = np.take_along_axis(lag, np.maximum.accumulate(slots, axis=1), axis=1)
    decreased = (lag[:, 1:] >= 0) & (lag[:, 1:] < last_known[:, :-1])
    return ~_any(decreased)


def advanced(windows: Windows) -> Bools:
    """Over the whole window the offset went up."""
    up: Bools = windows.newest(Column.OFFSET) > windows.oldest(Column.OFFSET)
    return up


def log_end_reached(windows: Windows) -> Bools:
    """Lately (within the remembered log ends) there was nothing left to read."""
    newest = windows.newest(Column.OFFSET)[:, None]
    reached: Bools = (windows.log_ends >= 0) & (windows.log_ends <= newest)
    return _any(reached)


def _any(flags: Bools) -> Bools:
    """[partition]: it holds in some slot."""
    some: Bools = np.logical_or.reduce(flags, axis=1)
    return some


def _pairs(windows: Windows) -> Bools:
    """[partition, slot - 1]: this slot and its predecessor are both occupied."""
    return windows.occupied[:, :-1]


def produced_per_s(windows: Windows, lag: Int64, now_ms: int | Int64, is_silent: Bools) -> Floats:
    """[partition] records per second by which the log has grown over the window and since; where
    commits have stopped (`is_silent`), since then. Negative where nobody knows.

    `lag` is that of now. One stretch of time for each, so that the rate does not jump with every
    commit.
    """
    newest, oldest = windows.newest(), windows.oldest()
    then = np.where(is_silent, newest, oldest)
    elapsed = now_ms - then[Column.OBSERVED_AT]
    known = (then[Column.LAG] != UNKNOWN) & (lag != UNKNOWN) & (windows.filled > 0)
    # A lag does not count what was deleted, and may be one less than what the log has.
    log_end = np.maximum(newest[Column.OFFSET] + lag, windows.log_ends[:, -1] - 1)
    grown = log_end - (then[Column.OFFSET] + then[Column.LAG])
    rate = np.maximum(grown, 0) * 1000.0 / np.maximum(elapsed, 1)
    return np.where(known & (elapsed >= LEAST_MS), rate, -1.0)


def log_at_rest(windows: Windows) -> Bools:
    """[partition] all remembered log ends, two at least, are the same."""
    ends = windows.log_ends
    known = ends != UNKNOWN
    same = (ends == ends[:, -1:]) | ~known
    rests: Bools = same.all(axis=1) & (np.count_nonzero(known, axis=1) > 1)
    return rests
