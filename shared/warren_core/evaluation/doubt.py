"""Doubt: what the rules say of windows that have only begun to fill is not all to be believed, nor
is a STOP amid a backlog.

Burrow's rules were made for full windows, and are applied to a lone commit too. That one is
"stopped" at once and "stalled" at once; of two lags, every second pair "never decreases". Burrow
judges a group when it is asked. Who tells people of the first verdict must know more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warren_core.evaluation.evidence import Evidence, Following
from warren_core.evaluation.predicates import log_end_reached
from warren_core.evaluation.windows import Bools, Column, Int64, Windows

SLOW_TAKES = 3
"""One record may take its time, and a backlog grows meanwhile: 45 s by default, as `progress`."""

PAUSE_TAKES = 20
"""So long, a group at work may leave a partition alone: 5 min by default, as long as Kafka's own
clients may go without a poll (max.poll.interval.ms).
"""

NEVER = np.iinfo(np.int64).max

Doubt = Callable[[Evidence, Following], Bools]


def unless(is_doubtful: Doubt, said: Bools, evidence: Evidence) -> Bools:
    """[partition] what is said and not doubtful. Plain windows, and those of partitions whose rules
    leave doubt out, are taken at their word.
    """
    following = evidence.following
    if following is None or following.doubt is False or not said.any():
        return said
    believed: Bools = said & ~(is_doubtful(evidence, following) & following.doubt)
    return believed


def stop_is_doubtful(evidence: Evidence, following: Following) -> Bools:
    """Too little time has gone by: since it was first observed, or since its newest commit. Or it
    may be a pause: after the only commit known, whose pace nobody knows, or amid a backlog that the
    group works off on another partition.
    """
    windows = evidence.windows
    newest, oldest = windows.newest(Column.COMMITTED_AT), windows.oldest(Column.COMMITTED_AT)
    silent_ms = evidence.now_ms - newest
    soon = following.is_filling & (silent_ms - following.grace_ms <= newest - oldest)
    at_work = (windows.filled == 1) | _works_off_a_backlog(evidence, following)
    pause = at_work & (silent_ms <= PAUSE_TAKES * following.grace_ms)
    doubtful: Bools = soon | pause | _just_observed(evidence, following)
    return doubtful


def _works_off_a_backlog(evidence: Evidence, following: Following) -> bool | Bools:
    """The group commits, at its pace, on some partition that is far from its end and comes nearer:
    clients take partitions in turn.
    """
    windows = evidence.windows
    lag = windows.newest(Column.LAG)
    nearer = (windows.filled > 1) & (lag >= 0) & (lag < windows.oldest(Column.LAG))
    if not nearer.any():
        return False
    silent_ms = evidence.now_ms - windows.newest(Column.COMMITTED_AT)
    at_work = silent_ms - following.grace_ms <= _shortest_ms(windows)
    behind = (evidence.current_lag > 0) & ~log_end_reached(windows)
    return following.of_group(nearer & at_work & behind)


def _shortest_ms(windows: Windows) -> Int64:
    """[partition] between two commits: its pace while it is read."""
    committed_at = windows.column(Column.COMMITTED_AT)
    between = np.where(windows.occupied[:, :-1], np.diff(committed_at, axis=1), NEVER)
    shortest: Int64 = between.min(axis=1, initial=NEVER)
    return shortest


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
        early |= _read_what_was_there(windows)
        if np.any(at_work := _works_off_a_backlog(evidence, following)):
            early |= at_work & _just_observed(evidence, following, PAUSE_TAKES)
        doubtful |= following.is_filling & early
    return doubtful


def _read_what_was_there(windows: Windows) -> Bools:
    """The newest commit is past the log end that was known at the one before: whole batches."""
    offset, lag = windows.column(Column.OFFSET), windows.column(Column.LAG)
    known: Bools = (windows.filled >= 2) & (lag[:, -2] >= 0)
    return known & (offset[:, -1] >= offset[:, -2] + lag[:, -2])


def _just_observed(evidence: Evidence, following: Following, times: int = 1) -> Bools:
    """The whole window was seen just now, whatever times its commits have: within so many times
    what every healthy group may need to be seen.
    """
    seen_at = evidence.windows.oldest(Column.OBSERVED_AT)
    just: Bools = evidence.now_ms - seen_at <= times * following.grace_ms
    return just
