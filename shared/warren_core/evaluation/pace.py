"""Pace: how fast logs grow and groups read, as the windows of the last commits tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64, Windows

Floats = NDArray[np.float64]

LEAST_MS = 1000
"""Over less time nobody can say how fast something goes."""


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
    grown = (newest[Column.OFFSET] - then[Column.OFFSET]) + (lag - then[Column.LAG])
    rate = np.maximum(grown, 0) * 1000.0 / np.maximum(elapsed, 1)
    return np.where(known & (elapsed >= LEAST_MS), rate, -1.0)


def log_at_rest(windows: Windows) -> Bools:
    """[partition] all remembered log ends, two at least, are the same."""
    ends = windows.log_ends
    known = ends != UNKNOWN
    same = (ends == ends[:, -1:]) | ~known
    rests: Bools = same.all(axis=1) & (np.count_nonzero(known, axis=1) > 1)
    return rests
