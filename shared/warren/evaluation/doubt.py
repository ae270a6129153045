"""Doubt: what the rules say of windows that have only begun to fill is not all to be believed.

Burrow's rules were made for full windows, and are applied to a lone commit too. That one is
"stopped" at once and "stalled" at once; of two lags, every second pair "never decreases". Burrow
judges a group when it is asked. Who tells people of the first verdict must know more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warren.evaluation.evidence import Evidence, Following
from warren.evaluation.predicates import log_end_reached
from warren.evaluation.windows import Bools, Column

SLOW_TAKES = 3
"""One record may take its time, and a backlog grows meanwhile: 45 s by default, as `progress`."""

Doubt = Callable[[Evidence, Following], Bools]


def unless(is_doubtful: Doubt, said: Bools, evidence: Evidence) -> Bools:
    """[partition] what is said and not doubtful. Plain windows are taken at their word."""
    if evidence.following is None or not said.any():
        return said
    believed: Bools = said & ~is_doubtful(evidence, evidence.following)
    return believed


def stop_is_doubtful(evidence: Evidence, following: Following) -> Bools:
    """Too little time has gone by: since it was first observed, or since its newest commit."""
    windows = evidence.windows
    newest, oldest = windows.newest(Column.COMMITTED_AT), windows.oldest(Column.COMMITTED_AT)
    silent_ms = evidence.now_ms - newest
    soon = following.is_filling & (silent_ms - following.grace_ms <= newest - oldest)
    doubtful: Bools = soon | _just_observed(evidence, following)
    return doubtful


def stall_is_doubtful(evidence: Evidence, following: Following) -> Bools:
    """One commit cannot stand still, and a few may be of a record that takes its time."""
    doubtful: Bools = evidence.windows.filled < 2
    if following.is_filling.any():
        doubtful |= following.is_filling & _just_observed(evidence, following, SLOW_TAKES)
    return doubtful


def warning_is_doubtful(evidence: Evidence, following: Following) -> Bools:
    """One lag does not grow; and few of them may by chance, while the consumer keeps up."""
    windows = evidence.windows
    doubtful: Bools = np.count_nonzero(windows.column(Column.LAG) >= 0, axis=1) < 2
    if following.is_filling.any():
        early = _just_observed(evidence, following, SLOW_TAKES) | log_end_reached(windows)
        doubtful |= following.is_filling & early
    return doubtful


def _just_observed(evidence: Evidence, following: Following, times: int = 1) -> Bools:
    """The whole window was seen just now, whatever times its commits have: within so many times
    what every healthy group may need to be seen.
    """
    seen_at = evidence.windows.oldest(Column.OBSERVED_AT)
    just: Bools = evidence.now_ms - seen_at <= times * following.grace_ms
    return just
