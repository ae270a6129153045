"""Backlog: what an advance leaves to read, whether that grows, stays or shrinks."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import (
    CATCHING_UP,
    LATE,
    LONGEST_MS,
    RECOVERING,
    Figure,
    Figures,
    Mark,
    Sighting,
    begin_lag_anew,
    smooth,
    span_ms,
)
from warren_core.evaluation.usual import explained_lag, lag_span_ms, late_ms, longest_habit_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

GROWING = Rule(
    "growing",
    learns="how fast is written, what each advance leaves, how long it usually is behind",
    speaks="WARN where what an advance leaves grows, for longer than usual and than a burst may "
    "take (25 s to 150 s), until it shrinks and half is read",
    sentence="A lag that grows for a minute is trouble.",
    parameters=(
        *("lag", "slower", "pauses", "least_pause", "least_left", "rise"),
        *("burst", "new_burst", "no_burst"),
    ),
)
TOO_LATE = Rule(
    "late",
    learns="when it was level with its log last",
    speaks="WARN where it is 5 min late, and three times its longest pause, and comes no nearer",
    sentence="Who is five minutes late and does not catch up is late.",
    parameters=("late",),
)
CATCHES_UP = Rule(
    "catching up",
    learns="that it stood still for too long",
    speaks="WARN with the first advance after that, where it is as late, until half is read",
    sentence="A stop is over once half of what it left is read.",
)
BURST = Rule(
    "burst",
    learns="what is usually produced, and how fast it reads",
    speaks="who reads more than that is neither growing nor late for 15 min",
    sentence="Who reads more than is usually produced is not too slow.",
    parameters=("more",),
)
USUALLY_LEFT = Rule(
    "usually left",
    learns="what its advances leave, on average over an hour",
    speaks="twice that, up to 40 s of what is written, is no lag that grows",
    sentence="What processing always leaves is no backlog.",
    parameters=("most_left", "left"),
)


def learn_backlog(
    marks: Int64,
    figures: Figures,
    sighting: Sighting,
    lag: Int64,
    elapsed: Int64,
    advanced: Bools,
    lost: Bools,
    stood_still: Bools,
) -> None:
    """Whether what an advance leaves to read gets more and more.

    Looked at only when the offset has advanced: in between any lag grows.
    """
    # Where nobody looked for long nobody knows what an advance left: the lag has grown since.
    advanced = advanced & ~sighting.is_late(elapsed)
    since_advance = span_ms(sighting.at, marks[Mark.ADVANCED_AT])
    span = lag_span_ms(marks, figures)
    known = advanced & (lag >= 0)
    explained = explained_lag(marks, figures, sighting.allowed_lag)
    # What is left is compared with what was left since it was level, not with a backlog before.
    level = known & (lag <= explained)
    _learn_left(marks, figures, lag, known, since_advance)
    begin_lag_anew(figures, lag, level)
    known &= ~level
    smooth(figures, Figure.LAG_QUICK, lag, known, since_advance, span)
    smooth(figures, Figure.LAG_SLOW, lag, known, since_advance, span * BY.slower)
    level = lost | ((lag >= 0) & (lag <= explained))
    marks[Mark.LEVEL_AT] = np.where(level, sighting.at, marks[Mark.LEVEL_AT])
    since = marks[Mark.BEHIND_SINCE]
    behind = np.where(advanced, lag > explained, (since >= 0) & (lag > explained))
    if not (behind.any() or (since >= 0).any()):  # as mostly
        marks[Mark.BACKLOG] = np.maximum(marks[Mark.BACKLOG] - elapsed // BY.memory, 0)
        marks[Mark.ODD_BACKLOG] = np.maximum(marks[Mark.ODD_BACKLOG] - elapsed // 2, 0)
        marks[[Mark.PEAK, Mark.GROWING]] = 0
        return
    # What was deleted before it was read is no part of the backlog that was made good.
    deleted = marks[Mark.COMMITTED] < sighting.log_start
    marks[Mark.PEAK] = np.where(deleted, lag, marks[Mark.PEAK])
    pause = np.maximum(figures[Figure.COMMIT_PAUSE], 0)
    stood = stood_still | (since_advance > BY.stands + 2 * pause)
    later = np.where(since >= 0, np.minimum(since + since_advance, sighting.at), UNKNOWN)
    since = np.where(advanced & stood & (marks[Mark.GROWING] == 0), later, since)
    length = np.where(since >= 0, span_ms(sighting.at, since), 0)
    # How long it takes to catch up after trouble, or a burst, is not how long it usually is behind.
    reads_more = reads_a_burst(figures)
    ended = (since >= 0) & ~behind & (marks[Mark.GROWING] != RECOVERING) & ~reads_more
    burst_ms = _burst_ms(marks, figures, sighting.at)
    too_long = length > np.maximum(2 * marks[Mark.BACKLOG], burst_ms)
    _remember_backlog(marks, length, ended, too_long, elapsed)
    # It reads too slowly since the advance before, unless it stood still.
    began = np.where(stood, sighting.at, marks[Mark.ADVANCED_AT])
    marks[Mark.BEHIND_SINCE] = np.where(behind, np.where(since >= 0, since, began), UNKNOWN)
    rise = figures[Figure.LAG_QUICK] - figures[Figure.LAG_SLOW]
    creeps = (length > BY.long) & (lag > 1.5 * explained)
    rises = (lag >= marks[Mark.PEAK]) & ((rise > explained / BY.rise) | creeps)
    burst = reads_more & (length <= BY.unseen)
    starts = advanced & behind & too_long & rises & ~burst
    # Who reads too slowly for what comes has not caught up because less comes for a while.
    told = (rise > -explained / 4) | (lag > marks[Mark.PEAK] / 2)
    grows = GROWING.on & behind & np.where(marks[Mark.GROWING] == 1, told, starts)
    peak = np.where(advanced, np.maximum(marks[Mark.PEAK], lag), marks[Mark.PEAK])
    marks[Mark.PEAK] = np.where(behind, peak, 0)
    stays = advanced & (length > BY.burst) & (rise >= -explained / 4) & ~burst
    _tell(marks, figures, sighting, lag, behind, grows, stays, advanced & stood_still)


def _burst_ms(marks: Int64, figures: Figures, now: int | Int64) -> Int64:
    """[partition] how long the lag may grow: what is written may be a burst."""
    known_ms = span_ms(now, marks[Mark.KNOWN_SINCE])
    usual, produced = figures[Figure.USUALLY_PRODUCED], figures[Figure.PRODUCED]
    steady = (known_ms >= BY.new) & (produced <= BY.more * usual)
    return np.where(known_ms < BY.long, BY.new_burst, np.where(steady, BY.no_burst, BY.burst))


def reads_a_burst(figures: Figures) -> Bools:
    """[partition] it reads more than is usually written: what grows is a burst."""
    usual, consumed = figures[Figure.USUALLY_PRODUCED], figures[Figure.CONSUMED]
    more: Bools = (usual >= 0) & (consumed > BY.more * usual) & BURST.on
    return more


def _learn_left(
    marks: Int64, figures: Figures, lag: Int64, known: Bools, since_advance: Int64
) -> None:
    """What an advance leaves of late, where one that leaves far more adds a quarter only; and what
    it usually leaves, as of who commits what it has processed. Trouble is not usual.
    """
    left = lag * 1000.0 / np.maximum(figures[Figure.PRODUCED], 1e-6)
    before = marks[Mark.LEFT]
    most = np.where(before >= 0, before + before // 4 + 1000, LONGEST_MS)
    is_first = figures[Figure.USUALLY_LEFT] < 0
    usually = np.minimum(left, np.where(is_first, BY.least_left, BY.most_left))
    well = known & (marks[Mark.GROWING] == 0) & USUALLY_LEFT.on
    smooth(figures, Figure.USUALLY_LEFT, usually, well, since_advance, BY.left)
    left = np.minimum(left, most).astype(np.int64)
    marks[Mark.LEFT] = np.where(known, np.maximum(before - before // 8, left), before)


def _remember_backlog(
    marks: Int64, length: Int64, ended: Bools, too_long: Bools, elapsed: Int64
) -> None:
    """One that was too long may be an accident; a second one soon after shows a habit."""
    before = np.maximum(marks[Mark.ODD_BACKLOG] - elapsed // 2, 0)
    habit = before >= length // 3
    learnt = np.where(too_long & ~habit, 0, length)
    usual = np.maximum(marks[Mark.BACKLOG] - elapsed // BY.memory, 0)
    marks[Mark.BACKLOG] = np.where(ended, np.maximum(usual, learnt), usual)
    noted = ended & too_long
    marks[Mark.ODD_BACKLOG] = np.where(noted, np.maximum(before, length), before)


def _tell(
    marks: Int64,
    figures: Figures,
    sighting: Sighting,
    lag: Int64,
    behind: Bools,
    grows: Bools,
    stays: Bools,
    stood_still: Bools,
) -> None:
    """What is to be told of a backlog. Who is far behind and does not come nearer, by more than the
    dead band, is late; who comes nearer after a wait that was too long is not well before half of
    it is read.
    """
    was = marks[Mark.GROWING]
    limit = np.maximum(BY.long, BY.late * longest_habit_ms(marks, figures))
    late = late_ms(marks, figures, lag, sighting.at)
    far = behind & (lag > marks[Mark.PEAK] / 2)
    is_late = TOO_LATE.on & far & np.where(was == LATE, late > limit / 2, stays & (late > limit))
    starts = stood_still & (late > limit)
    catches_up = CATCHES_UP.on & far & np.where(was == CATCHING_UP, late > limit / 2, starts)
    recovers = behind & ((was >= LATE) | (was == RECOVERING) | stood_still)
    marks[Mark.GROWING] = np.select(
        [grows, is_late, catches_up, recovers], [1, LATE, CATCHING_UP, RECOVERING]
    )
