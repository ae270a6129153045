"""Doubt: what the rules say of windows that have only begun to fill is not all to be believed.

Burrow's rules were made for full windows, and are applied to a lone commit too. That one is
"stopped" at once and "stalled" at once; of two lags, every second pair "never decreases". Burrow
judges a group when it is asked. Who tells people of the first verdict must know more.
"""

from __future__ import annotations

import numpy as np

from warren.evaluation.evidence import Evidence
from warren.evaluation.predicates import log_end_reached
from warren.evaluation.windows import Bools, Column


def stop_is_doubtful(evidence: Evidence) -> Bools:
    """Too little time has gone by: since it was first observed, or since its newest commit."""
    following, windows = evidence.following, evidence.windows
    if following is None:
        return np.zeros(windows.filled.shape, np.bool_)
    newest, oldest = windows.newest(Column.COMMITTED_AT), windows.oldest(Column.COMMITTED_AT)
    silent_ms = evidence.now_ms - newest
    soon = following.is_filling & (silent_ms - following.grace_ms <= newest - oldest)
    doubtful: Bools = soon | _just_observed(evidence, following.grace_ms)
    return doubtful


def stall_is_doubtful(evidence: Evidence) -> Bools:
    """One commit cannot stand still, and two soon after each other may be of one offset."""
    following, windows = evidence.following, evidence.windows
    if following is None:
        return np.zeros(windows.filled.shape, np.bool_)
    doubtful: Bools = (windows.filled < 2) | (
        following.is_filling & _just_observed(evidence, following.grace_ms)
    )
    return doubtful


def warning_is_doubtful(evidence: Evidence) -> Bools:
    """One lag does not grow; and few of them may by chance, while the consumer keeps up."""
    following, windows = evidence.following, evidence.windows
    if following is None:
        return np.zeros(windows.filled.shape, np.bool_)
    known = np.count_nonzero(windows.column(Column.LAG) >= 0, axis=1)
    doubtful: Bools = (known < 2) | (
        following.is_filling
        & (_just_observed(evidence, following.grace_ms) | log_end_reached(windows))
    )
    return doubtful


def _just_observed(evidence: Evidence, grace_ms: int) -> Bools:
    """The whole window was seen just now, whatever times its commits have."""
    just: Bools = evidence.now_ms - evidence.windows.oldest(Column.OBSERVED_AT) <= grace_ms
    return just
