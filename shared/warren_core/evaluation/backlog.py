"""Backlog: what an advance leaves to read, whether that grows, stays or shrinks."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.averages import begin_lag_anew, smooth
from warren_core.evaluation.track import (
    CATCHING_UP,
    LATE,
    LONGEST_MS,
    MEMORY,
    RECOVERING,
    Figure,
    Figures,
    Mark,
    Sighting,
    span_ms,
)
from warren_core.evaluation.usual import (
    SLOWER,
    explained_lag,
    lag_span_ms,
    late_ms,
    longest_habit_ms,
)
from warren_core.evaluation.waits import ACCIDENT
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

# A growing lag is no trouble for this long, or for twice as long as it usually is behind:
BURST_MS = 60_000
# while it is new, and nobody knows what is usually written,
NEW_MS = 5 * 60_000
NEW_BURST_MS = 150_000
# and once that is known, and no more is written than that.
KNOWN_MS = 10 * 60_000
STEADY = 1.1
NO_BURST_MS = 25_000
# It grows where its averages differ by such a part of what is explained. By how little does not
# matter of one that was never larger since it is behind, for so long, and is so far above that.
RISE = 6
CREEPS_MS = 5 * 60_000
CREEPS_ABOVE = 1.5
# A spell of a lag that grows is no longer than this, and fades so much more slowly.
SPELL_MS = 3 * 60_000
SPELL_ACCIDENT = 120
# It grows since the advance before, but where that was so long ago, and so many mean pauses between
# commits more: it stood still.
STOOD_STILL_MS = 15_000
STOOD_STILL_PAUSES = 2
# What is usually left is learnt over so long: of the first advance so much at most, then of each.
LEFT_SPAN_MS = 60 * 60_000
FIRST_LEFT_MS = 4_000
MOST_LEFT_MS = 20_000
# Who reads so many times what is usually written is not too slow: for so long a burst may last.
MORE_THAN_USUAL = 1.15
LONGEST_BURST_MS = 15 * 60_000
# A backlog that does not shrink is late from here, or from so many times the longest wait of late.
LATE_MS = 5 * 60_000
LATE_TIMES = 3


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
    smooth(figures, Figure.LAG_SLOW, lag, known, since_advance, span * SLOWER)
    level = lost | ((lag >= 0) & (lag <= explained))
    marks[Mark.LEVEL_AT] = np.where(level, sighting.at, marks[Mark.LEVEL_AT])
    since = marks[Mark.BEHIND_SINCE]
    behind = np.where(advanced, lag > explained, (since >= 0) & (lag > explained))
    if not (behind.any() or (since >= 0).any()):  # as mostly
        marks[Mark.BACKLOG] = np.maximum(marks[Mark.BACKLOG] - elapsed // MEMORY, 0)
        marks[Mark.ODD_BACKLOG] = _faded(marks[Mark.ODD_BACKLOG], elapsed)
        marks[[Mark.PEAK, Mark.GROWING]] = 0
        return
    # What was deleted before it was read is no part of the backlog that was made good.
    deleted = advanced & (marks[Mark.COMMITTED] < sighting.log_start)
    marks[Mark.PEAK] = np.where(deleted, lag, marks[Mark.PEAK])
    pause = np.maximum(figures[Figure.COMMIT_PAUSE], 0)
    stood = stood_still | (since_advance > STOOD_STILL_MS + STOOD_STILL_PAUSES * pause)
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
    creeps = (length > CREEPS_MS) & (lag > CREEPS_ABOVE * explained)
    rises = (lag >= marks[Mark.PEAK]) & ((rise > explained / RISE) | creeps)
    burst = reads_more & (length <= LONGEST_BURST_MS)
    starts = advanced & behind & too_long & rises & ~burst
    # Who reads too slowly for what comes has not caught up because less comes for a while.
    told = (rise > -explained / 4) | (lag > marks[Mark.PEAK] / 2)
    grows = behind & np.where(marks[Mark.GROWING] == 1, told, starts)
    peak = np.where(advanced, np.maximum(marks[Mark.PEAK], lag), marks[Mark.PEAK])
    marks[Mark.PEAK] = np.where(behind, peak, 0)
    stays = advanced & (length > BURST_MS) & (rise >= -explained / 4) & ~burst
    _tell(marks, figures, sighting, lag, behind, grows, stays, advanced & stood_still)


def _burst_ms(marks: Int64, figures: Figures, now: int | Int64) -> Int64:
    """[partition] how long the lag may grow: what is written may be a burst."""
    known_ms = span_ms(now, marks[Mark.KNOWN_SINCE])
    usual, produced = figures[Figure.USUALLY_PRODUCED], figures[Figure.PRODUCED]
    steady = (known_ms >= KNOWN_MS) & (produced <= STEADY * usual)
    steady &= marks[Mark.ODD_BACKLOG] == 0  # it may be a spell again
    return np.where(known_ms < NEW_MS, NEW_BURST_MS, np.where(steady, NO_BURST_MS, BURST_MS))


def reads_a_burst(figures: Figures) -> Bools:
    """[partition] it reads more than is usually written: what grows is a burst."""
    usual, consumed = figures[Figure.USUALLY_PRODUCED], figures[Figure.CONSUMED]
    more: Bools = (usual >= 0) & (consumed > MORE_THAN_USUAL * usual)
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
    usually = np.minimum(left, np.where(is_first, FIRST_LEFT_MS, MOST_LEFT_MS))
    well = known & (marks[Mark.GROWING] == 0)
    smooth(figures, Figure.USUALLY_LEFT, usually, well, since_advance, LEFT_SPAN_MS)
    left = np.minimum(left, most).astype(np.int64)
    marks[Mark.LEFT] = np.where(known, np.maximum(before - before // 8, left), before)


def _faded(odd: Int64, elapsed: Int64) -> Int64:
    """A spell that was soon over is remembered for hours: it comes again."""
    slower = np.where(odd <= SPELL_MS, SPELL_ACCIDENT, ACCIDENT)
    faded: Int64 = np.maximum(odd - elapsed // slower, 0)
    return faded


def _remember_backlog(
    marks: Int64, length: Int64, ended: Bools, too_long: Bools, elapsed: Int64
) -> None:
    """One that was too long may be an accident; a second one soon after shows a habit."""
    before = _faded(marks[Mark.ODD_BACKLOG], elapsed)
    habit = before >= length // 3
    learnt = np.where(too_long & ~habit, 0, length)
    usual = np.maximum(marks[Mark.BACKLOG] - elapsed // MEMORY, 0)
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
    limit = np.maximum(LATE_MS, LATE_TIMES * longest_habit_ms(marks, figures))
    late = late_ms(marks, figures, lag, sighting.at)
    far = behind & (lag > marks[Mark.PEAK] / 2)
    is_late = far & np.where(was == LATE, late > limit / 2, stays & (late > limit))
    starts = stood_still & (late > limit)
    catches_up = far & np.where(was == CATCHING_UP, late > limit / 2, starts)
    recovers = behind & ((was >= LATE) | (was == RECOVERING) | stood_still)
    marks[Mark.GROWING] = np.select(
        [grows, is_late, catches_up, recovers], [1, LATE, CATCHING_UP, RECOVERING]
    )
