"""Transactions: how long an open one usually keeps those waiting who read committed records."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.track import Figures, Mark, Sighting
from warren_core.evaluation.usual import explained_lag
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64


def learn_open(
    marks: Int64, figures: Figures, sighting: Sighting, stands: Bools, elapsed: Int64
) -> None:
    """Note how much of this wait it stands where a transaction is open. Who commits what it was
    given stays before aborted records and markers: no more than a healthy one may leave.
    """
    stable, since = sighting.last_stable, marks[Mark.OPEN_SINCE]
    if not np.any(stable >= 0) and not (since >= 0).any() and not marks[Mark.HELD].any():
        return  # as mostly
    is_open = (stable >= 0) & (stable < sighting.log_end)
    reached = explained_lag(marks, figures, sighting.allowed_lag)
    held = stands & is_open & (sighting.committed + reached >= stable)
    held |= stands & (since >= 0) & (np.asarray(stable) < 0)  # nobody knows: as before
    marks[Mark.HELD] = np.where(stands, marks[Mark.HELD] + np.where(held, elapsed, 0), 0)
    marks[Mark.OPEN_SINCE] = np.where(held, np.where(since >= 0, since, sighting.at), UNKNOWN)


def was_held(marks: Int64, wait: Int64) -> Bools:
    """[partition] an open transaction took most of this wait."""
    held: Bools = 2 * marks[Mark.HELD] > wait
    return held
