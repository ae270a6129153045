"""Backlog: what an advance leaves to read, whether that grows, stays or shrinks."""

import numpy as np

from warren_core.evaluation.busy_hours import is_busy, learn_busy
from warren_core.evaluation.level import lateness_ms, learn_level
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import (
    CATCHING_UP,
    LATE,
    RECOVERING,
    Figure,
    Figures,
    Floats,
    Mark,
    Sighting,
    begin_lag_anew,
    smooth,
    span_ms,
)
from warren_core.evaluation.trend import learn_trend
from warren_core.evaluation.usual import lag_span_ms, longest_habit_ms, room, usual_lag
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

GROWING = Rule(
    "growing",
    learns="how fast is written, what each advance leaves beyond its level, how long it usually is "
    "behind",
    speaks="WARN where that grows, for longer than usual and than a burst may take (35 s to "
    "3 min), until it shrinks and half is read",
    sentence="A lag that grows for a minute is trouble.",
    parameters=(
        *("lag", "slower", "pauses", "least_pause", "least_left", "rise"),
        "first",
    ),
)
TOO_LATE = Rule(
    "late",
    learns="when it was at its level last",
    speaks="WARN where it is 5 min later than usual, and three times its longest pause, and comes "
    "no nearer",
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
    learns="what is usually produced, how fast it reads, and how long bursts of late have lasted",
    speaks="who reads more than that is neither growing nor late for 3 min, or as long as a burst "
    "has lasted, up to 15 min",
    sentence="Who reads more than is usually produced is not too slow.",
    parameters=("more",),
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
    stood_long = advanced & stood_still
    figured = known & (figures[Figure.PRODUCED] >= 0)
    _learn_level(marks, figures, sighting, lag, figured, since_advance, stood_long)
    # From here on what is left counts from what is usually left.
    more = np.where(lag >= 0, np.maximum(lag - usual_lag(figures), 0.0), UNKNOWN)
    explained = room(marks, figures, sighting.allowed_lag)
    # It is compared with what was left since it was level, not with a backlog before.
    level = known & (more <= explained)
    begin_lag_anew(figures, more, level)
    known &= ~level
    smooth(figures, Figure.LAG_QUICK, more, known, since_advance, span)
    smooth(figures, Figure.LAG_SLOW, more, known, since_advance, span * BY.slower)
    level = lost | ((more >= 0) & (more <= explained))
    marks[Mark.LEVEL_AT] = np.where(level, sighting.at, marks[Mark.LEVEL_AT])
    read_all = lost | ((lag >= 0) & (lag <= explained))
    marks[Mark.READ_ALL_AT] = np.where(read_all, sighting.at, marks[Mark.READ_ALL_AT])
    since = marks[Mark.BEHIND_SINCE]
    behind = np.where(advanced, more > explained, (since >= 0) & (more > explained))
    if not (behind.any() or (since >= 0).any()):  # as mostly
        marks[Mark.BACKLOG] = np.maximum(marks[Mark.BACKLOG] - elapsed // BY.memory, 0)
        marks[Mark.ODD_BACKLOG] = np.maximum(marks[Mark.ODD_BACKLOG] - elapsed // 2, 0)
        marks[Mark.BURST] = np.maximum(marks[Mark.BURST] - elapsed // BY.memory, 0)
        marks[[Mark.PEAK, Mark.GROWING, Mark.TREND]] = 0
        return
    # What was deleted before it was read is no part of the backlog that was made good.
    deleted = marks[Mark.COMMITTED] < sighting.log_start
    marks[Mark.PEAK] = np.where(deleted, more, marks[Mark.PEAK])
    pause = np.maximum(figures[Figure.COMMIT_PAUSE], 0)
    stood = stood_still | (since_advance > BY.stands + 2 * pause)
    later = np.where(since >= 0, np.minimum(since + since_advance, sighting.at), UNKNOWN)
    since = np.where(advanced & stood & (marks[Mark.GROWING] == 0), later, since)
    length = np.where(since >= 0, span_ms(sighting.at, since), 0)
    # How long it takes to catch up after trouble, or a burst, is not how long it usually is behind.
    reads_more = reads_a_burst(figures)
    ended = (since >= 0) & ~behind & (marks[Mark.GROWING] != RECOVERING)
    most = lateness_ms(figures, np.maximum(marks[Mark.PEAK], 0))
    learn_busy(marks, figures, ended, most, sighting.at)
    bursts = ended & reads_more & (length <= BY.usual)
    known_burst = np.maximum(marks[Mark.BURST] - elapsed // BY.memory, 0)
    marks[Mark.BURST] = np.where(bursts, np.maximum(known_burst, length), known_burst)
    ended &= ~reads_more
    burst_ms = _burst_ms(marks, figures, sighting.at)
    too_long = length > np.maximum(2 * marks[Mark.BACKLOG], burst_ms)
    _remember_backlog(marks, length, ended, too_long, elapsed)
    # It reads too slowly since the advance before, unless it stood still.
    began = np.where(stood, sighting.at, marks[Mark.ADVANCED_AT])
    marks[Mark.BEHIND_SINCE] = np.where(behind, np.where(since >= 0, since, began), UNKNOWN)
    rise = figures[Figure.LAG_QUICK] - figures[Figure.LAG_SLOW]
    creeps = (length > BY.long) & (more > 1.5 * explained)
    nears = figures[Figure.CONSUMED] > BY.more * figures[Figure.PRODUCED]
    steep = rise > explained / BY.rise
    rises = (more >= marks[Mark.PEAK]) & (steep | creeps) & ~nears
    burst = reads_more & (length <= np.clip(marks[Mark.BURST], BY.first, BY.unseen))
    busy = is_busy(marks, figures, lateness_ms(figures, more), sighting.at)
    starts = advanced & behind & too_long & rises & ~burst & ~busy
    starts_to_rise = starts & (marks[Mark.GROWING] != 1) & steep
    # Who reads too slowly for what comes has not caught up because less comes for a while.
    told = (rise > -explained / 4) | (more > marks[Mark.PEAK] / 2)
    grows = GROWING.on & behind & np.where(marks[Mark.GROWING] == 1, told, starts)
    peak = np.where(advanced, np.maximum(marks[Mark.PEAK], more), marks[Mark.PEAK])
    marks[Mark.PEAK] = np.where(behind, peak, 0)
    stays = advanced & (length > BY.soon) & (rise >= -explained / 4) & ~burst & ~nears & ~busy
    _tell(marks, figures, sighting, more, behind, grows, stays, stood_long)
    learn_trend(marks, figures, rise, starts_to_rise)


def _burst_ms(marks: Int64, figures: Figures, now: int | Int64) -> Int64:
    """[partition] how long the lag may grow: what is written may be a burst."""
    known_ms = span_ms(now, marks[Mark.KNOWN_SINCE])
    usual, produced = figures[Figure.USUALLY_PRODUCED], figures[Figure.PRODUCED]
    steady = (known_ms >= BY.new) & (produced <= BY.more * usual)
    return np.where(known_ms < BY.long, BY.first, np.where(steady, BY.least_wait, BY.soon))


def reads_a_burst(figures: Figures) -> Bools:
    """[partition] it reads more than is usually written: what grows is a burst."""
    usual, consumed = figures[Figure.USUALLY_PRODUCED], figures[Figure.CONSUMED]
    more: Bools = (usual >= 0) & (consumed > BY.more * usual) & BURST.on
    return more


def _learn_level(
    marks: Int64,
    figures: Figures,
    sighting: Sighting,
    lag: Int64,
    known: Bools,
    elapsed: Int64,
    stood_still: Bools,
) -> None:
    late = lateness_ms(figures, lag)
    chance = lateness_ms(figures, room(marks, figures, sighting.allowed_lag))
    learn_level(marks, figures, late, chance, known, elapsed, stood_still, sighting.at)


def _remember_backlog(
    marks: Int64, length: Int64, ended: Bools, too_long: Bools, elapsed: Int64
) -> None:
    """One that was too long may be an accident; a second one soon after shows a habit."""
    before = np.maximum(marks[Mark.ODD_BACKLOG] - elapsed // 2, 0)
    habit = before >= length // 3
    learnt = np.where(too_long & ~habit, 0, length)
    usual = np.maximum(marks[Mark.BACKLOG] - elapsed // BY.memory, 0)
    marks[Mark.BACKLOG] = np.where(ended, np.maximum(usual, learnt), usual)
    marks[Mark.ODD_BACKLOG] = np.where(ended & too_long, np.maximum(before, length), before)


def _tell(
    marks: Int64,
    figures: Figures,
    sighting: Sighting,
    lag: Floats,
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
    late = np.minimum(lateness_ms(figures, lag), span_ms(sighting.at, marks[Mark.LEVEL_AT]))
    far = behind & (lag > marks[Mark.PEAK] / 2)
    is_late = TOO_LATE.on & far & np.where(was == LATE, late > limit / 2, stays & (late > limit))
    starts = stood_still & (late > limit)
    catches_up = CATCHES_UP.on & far & np.where(was == CATCHING_UP, late > limit / 2, starts)
    recovers = behind & ((was >= LATE) | (was == RECOVERING) | stood_still)
    marks[Mark.GROWING] = np.select(
        [grows, is_late, catches_up, recovers], [1, LATE, CATCHING_UP, RECOVERING]
    )
