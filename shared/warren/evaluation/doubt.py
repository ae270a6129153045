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
from warren.evaluation.windows import Bools, Column, Windows

SLOW_TAKES = 3
"""One record may take its time, and a backlog grows meanwhile: 45 s by default, as `progress`."""

PAUSE_TAKES = 20
"""So long, a group at work may leave a partition alone: 5 min by default, as long as Kafka's own
clients may go without a poll (max.poll.interval.ms).
"""

Doubt = Callable[[Evidence, Following], Bools]


def unless(is_doubtful: Doubt, said: Bools, evidence: Evidence) -> Bools:
    """[partition] what is said and not doubtful. Plain windows are taken at their word."""
    if evidence.following is None or not said.any():
        return said
    believed: Bools = said & ~is_doubtful(evidence, evidence.following)
    return believed


def stop_is_doubtful(evidence: Evidence, following: Following) -> Bools:
    """Too little time has gone by: since it was first observed, or since its newest commit. Or it
    may be a pause: the only commit kept up, or the group works off another partition's backlog.
    """
    windows = evidence.windows
    newest, oldest = windows.newest(Column.COMMITTED_AT), windows.oldest(Column.COMMITTED_AT)
    silent_ms = evidence.now_ms - newest
    soon = silent_ms - following.grace_ms <= newest - oldest
    if following.is_filling.any():
        pause_ms = PAUSE_TAKES * following.grace_ms
        at_work = _works_off_a_backlog(evidence, following)
        at_work |= _only_commit_kept_up(evidence, pause_ms)
        soon |= at_work & (silent_ms <= pause_ms)
    doubtful: Bools = (following.is_filling & soon) | _just_observed(evidence, following)
    return doubtful


def _only_commit_kept_up(evidence: Evidence, within_ms: int) -> Bools:
    """By what was written since, the only commit was no further behind than that."""
    windows = evidence.windows
    lag = windows.newest(Column.LAG).astype(np.float64)
    silent_ms = evidence.now_ms - windows.newest(Column.COMMITTED_AT)
    written = evidence.current_lag - lag
    kept_up: Bools = (windows.filled == 1) & (lag >= 0) & (written > 0)
    return kept_up & (lag * silent_ms <= written * within_ms)


def _works_off_a_backlog(evidence: Evidence, following: Following) -> Bools:
    """The group commits on some partition, far from its end: clients take partitions in turn."""
    windows = evidence.windows
    silent_ms = evidence.now_ms - windows.newest(Column.COMMITTED_AT)
    behind = (evidence.current_lag > 0) & ~log_end_reached(windows)
    at_work = (windows.filled > 0) & (silent_ms <= following.grace_ms) & behind
    return np.full(at_work.shape, at_work.any())


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
        doubtful |= following.is_filling & (early | _read_what_was_there(windows))
    return doubtful


def _read_what_was_there(windows: Windows) -> Bools:
    """The newest commit is past the log end that was known at the one before: whole batches."""
    offset, lag = windows.column(Column.OFFSET), windows.column(Column.LAG)
    known: Bools = (windows.filled >= 2) & (lag[:, -2] >= 0)
    return known & (offset[:, -1] >= offset[:, -2] + np.maximum(lag[:, -2], 0))


def _just_observed(evidence: Evidence, following: Following, times: int = 1) -> Bools:
    """The whole window was seen just now, whatever times its commits have: within so many times
    what every healthy group may need to be seen.
    """
    seen_at = evidence.windows.oldest(Column.OBSERVED_AT)
    just: Bools = evidence.now_ms - seen_at <= times * following.grace_ms
    return just
