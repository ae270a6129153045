"""Placing of a commit that arrives after a newer one, in the window of one partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


def place_late_commit(
    window: Int64, commit: Int64, *, order: int, time: int, capacity: int, min_distance_ms: int
) -> Int64:
    """The window, [column, slot], oldest first, with the commit, [column], where it belongs.

    `order` and `time` are row numbers of the window. The cases are those of Burrow's ring
    (linkedin/Burrow 1.9.5, core/internal/storage/inmemory.go): it drops a commit that it has, or
    that is older than a full window; one that becomes the oldest is never merged.
    """
    filled = window.shape[1]
    full = filled == capacity
    place = int(np.searchsorted(window[order], commit[order]))
    if place < filled and window[order, place] == commit[order]:
        return window
    if place == 0:
        return window if full else np.insert(window, 0, commit, axis=1)
    becomes_oldest = full and place == 1
    previous = place - 1
    if not becomes_oldest and commit[time] - window[time, previous] < min_distance_ms:
        merged = window.copy()
        merged[:, previous] = commit
        merged[time, previous] = window[time, previous]
        return merged
    widened = np.insert(window, place, commit, axis=1)
    return widened[:, 1:] if full else widened
