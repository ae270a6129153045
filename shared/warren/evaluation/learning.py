"""Learning: what one observation adds to what policy `progress` knows of a partition.

An observation is what one event says of a partition: committed offset and log end at one moment.
What counts is which of the two moved, and when. Times are those of the observations, so that no
client's clock matters. docs/evaluation.md gives the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from warren.evaluation.windows import UNKNOWN, Bools, Int64

Floats: TypeAlias = NDArray[np.float64]

# What was kept before there were LEVEL_AT and ODD_AT.
_EARLIER_MARKS = 19
# A wait that was no trouble is remembered for so many of its own length.
MEMORY = 128
# One that was is forgotten this much more slowly than time goes by,
ACCIDENT = 2
# and one that need not have been much more slowly: it comes again, hours later maybe.
PAUSE_ACCIDENT = 40
LONGEST_PAUSE_MS = 11 * 60_000
# What a rebalance may take is learnt from the first one, and that the next may take this long.
REBALANCE_MS = 200_000
REBALANCE_LEARNT_MS = 150_000
# A wait is too long when it is longer than all of these: what a quick rebalance may take,
LEAST_WAIT_MS = 45_000
# until enough waits have been seen,
UNLEARNT_WAIT_MS = 5 * 60_000
# and the longest of late, by a half: twice a short one, a third more of what is longer than 5 min.
SHORT_MS = 30_000
LONG_MS = 5 * 60_000
# After so long without an observation nobody knows what happened meanwhile: nothing is learnt.
BLIND_MS = 5 * 60_000
# Once lag 0 was seen, so many commits that leave a lag of 1 until that counts as caught up again.
RESTS = 3
# So many waits tell how long one may be.
ENOUGH_WAITS = 8
# Averages: of the produce rate; of the lag quickly at least, and slowly so much more slowly.
RATE_MS = 120_000
LAG_MS = 30_000
SLOWER = 4
LEAST_PAUSE_MS = 10_000
# A growing lag is no trouble for this long, or for twice as long as it usually is behind.
BURST_MS = 90_000
# A backlog that does not shrink is late from here, or from so many times the longest wait of late.
LATE_MS = 5 * 60_000
LATE_TIMES = 3
LATE = 2  # as a mark of GROWING
_LONGEST_MS = 30 * 86_400_000


class Mark(IntEnum):
    """Whole numbers to remember; times are Unix milliseconds, UNKNOWN where there is none."""

    SEEN_AT = 0  # newest observation
    COMMITTED = 1
    COMMITTED_AT = 2  # as the commit has it, for the usual pause
    LOG_END = 3  # newest known
    COMMIT_SEEN_AT = 4  # newest observation with a commit, whatever its offset
    REPEATS = 5  # commits since the offset advanced
    WAITING_SINCE = 6  # there is something to read, and the offset has not advanced
    PAUSE = 7  # longest wait of late, ms
    ODD_PAUSE = 8  # longest one of late that was too long, ms
    WAITS = 9  # how many waits were seen, at most ENOUGH_WAITS
    BEHIND_SINCE = 10  # an advance leaves more lag than is usual
    BACKLOG = 11  # longest time behind of late, ms
    ODD_BACKLOG = 12  # longest one of late with a growing lag, ms
    RESTING = 13  # >= 0: a lag of 1 counts as caught up; else RESTS - seen at 1, negative
    REWOUND_FROM = 14  # the committed offset before it went back
    REWOUND_AT = 15
    ADVANCED_AT = 16
    PEAK = 17  # most lag that an advance has left since then
    GROWING = 18  # 1 once the lag was found growing, until it shrinks; 2: late all the same
    LEVEL_AT = 19  # newest observation with no more lag than is explained
    ODD_AT = 20  # when that odd pause ended


class Figure(IntEnum):
    """Averages; UNKNOWN until there is one."""

    COMMIT_PAUSE = 0  # between two commits, ms
    PRODUCED = 1  # records per second
    LAG_QUICK = 2
    LAG_SLOW = 3


_FRESH = np.full(len(Mark), UNKNOWN, np.int64)
_FRESH[
    [
        Mark.REPEATS,
        Mark.PAUSE,
        Mark.ODD_PAUSE,
        Mark.WAITS,
        Mark.BACKLOG,
        Mark.ODD_BACKLOG,
        Mark.RESTING,
        Mark.PEAK,
        Mark.GROWING,
    ]
] = 0


@dataclass(frozen=True, slots=True)
class Sighting:
    """One observation of N partitions; offsets are UNKNOWN where nobody knows them."""

    at: int | Int64  # for all, or [N]
    committed: Int64
    committed_at: Int64
    commits: Int64  # how many came with it
    log_end: Int64
    allowed_lag: int | Int64 = 0


@dataclass(slots=True)
class Track:
    """What is known of P partitions. `observe` changes it."""

    marks: Int64  # [Mark, partition]
    figures: Floats  # [Figure, partition]

    @classmethod
    def empty(cls, partitions: int) -> Track:
        marks = np.repeat(_FRESH[:, None], partitions, axis=1)
        return cls(marks, np.full((len(Figure), partitions), float(UNKNOWN)))

    @classmethod
    def kept(cls, marks: Int64, figures: Floats) -> Track | None:
        """What was stored, by an earlier version maybe; None where nobody knows what it means."""
        if len(figures) != len(Figure):
            return None
        if len(marks) == _EARLIER_MARKS:
            behind, seen = marks[Mark.BEHIND_SINCE], marks[Mark.SEEN_AT]
            level = np.where(behind >= 0, behind, seen)
            return cls(np.concatenate([marks, [level], [seen]]), figures)
        return cls(marks, figures) if len(marks) == len(Mark) else None

    def take(self, rows: Int64) -> Track:
        """A copy with these partitions; a negative row is a partition never observed."""
        partitions = self.marks.shape[1]
        if np.array_equal(rows, np.arange(partitions)):  # as nearly always
            return Track(self.marks.copy(), self.figures.copy())
        if not partitions:
            return Track.empty(len(rows))
        taken = Track(self.marks[:, rows], self.figures[:, rows])
        taken.clear(rows < 0)
        return taken

    def clear(self, rows: Int64 | Bools) -> None:
        """Forgets everything about these partitions."""
        self.marks[:, rows] = _FRESH[:, None]
        self.figures[:, rows] = UNKNOWN

    def observe(self, rows: Int64, sighting: Sighting, blind_ms: int = BLIND_MS) -> None:
        """Takes in one observation of each of these (distinct) partitions."""
        if np.array_equal(rows, np.arange(self.marks.shape[1])):
            _learn(self.marks, self.figures, sighting, blind_ms)
            return
        marks, figures = self.marks[:, rows], self.figures[:, rows]
        _learn(marks, figures, sighting, blind_ms)
        self.marks[:, rows], self.figures[:, rows] = marks, figures


def caught_up_lag(marks: Int64, allowed_lag: int | Int64) -> Int64:
    """[partition] the largest lag of a consumer that has read everything."""
    caught_up: Int64 = np.maximum(marks[Mark.RESTING] >= 0, allowed_lag)
    return caught_up


def patience_ms(marks: Int64) -> Int64:
    """[partition] how long the offset may stand still while there is something to read."""
    unknown = (ENOUGH_WAITS - marks[Mark.WAITS]) / ENOUGH_WAITS
    least = np.maximum(LEAST_WAIT_MS, UNLEARNT_WAIT_MS * unknown).astype(np.int64)
    pause = marks[Mark.PAUSE]
    usual = pause + np.minimum(pause // 2, LONG_MS // 2) + np.minimum(pause // 2, SHORT_MS)
    usual += np.maximum(pause - LONG_MS, 0) // 3
    patience: Int64 = np.maximum(least, usual)
    return patience


def late_ms(marks: Int64, figures: Floats, lag: Int64, now: int | Int64) -> Floats:
    """[partition] how late it is, about: no longer than it has not been level with the log, and no
    longer than its lag takes to be written.
    """
    written = np.maximum(lag, 0) * 1000.0 / np.maximum(figures[Figure.PRODUCED], 1e-6)
    late: Floats = np.minimum(written, _span(now, marks[Mark.LEVEL_AT]))
    return late


def remaining_ms(pause: int, figures: Sequence[float], lag: int) -> float | None:
    """Until a partition is level with its log, at the pace of late; None where it comes no nearer.

    Both averages follow a steady lag by their spans: what they differ by is what it lost between.
    """
    shrinks = figures[Figure.LAG_SLOW] - figures[Figure.LAG_QUICK]
    if shrinks <= 0:
        return None
    return lag * max(2 * pause, LAG_MS) * (SLOWER - 1) / shrinks


def explained_lag(marks: Int64, figures: Floats, allowed_lag: int | Int64) -> Floats:
    """[partition] the lag that a healthy consumer may leave when it has just advanced."""
    span = np.maximum(marks[Mark.PAUSE] / 4, LEAST_PAUSE_MS)
    written = np.maximum(figures[Figure.PRODUCED], 0) * span / 1000
    explained: Floats = caught_up_lag(marks, allowed_lag) + written + 3 * np.sqrt(written) + 1
    return explained


def _learn(marks: Int64, figures: Floats, sighting: Sighting, blind_ms: int) -> None:
    """`marks` and `figures` are those of the partitions that were seen; changed in place."""
    committed, now = sighting.committed, sighting.at
    log_end = np.where(sighting.log_end >= 0, sighting.log_end, marks[Mark.LOG_END])
    fell = log_end < marks[Mark.LOG_END]
    # Nothing to start from: never seen, not committed (any more), or a log that was made anew. One
    # whose end only seems to have gone back is still read where it was.
    lost = (marks[Mark.COMMITTED] < 0) | (committed < 0)
    beyond = marks[Mark.COMMITTED] > marks[Mark.LOG_END]
    lost |= (committed < marks[Mark.COMMITTED]) & (fell | (beyond & (marks[Mark.LOG_END] >= 0)))
    if lost.any():
        marks[:, lost] = _FRESH[:, None]
        figures[:, lost] = UNKNOWN
    elapsed = np.where(lost, 0, _span(now, marks[Mark.SEEN_AT]))
    sure = ~lost & (elapsed <= blind_ms)
    advanced = ~lost & (committed > marks[Mark.COMMITTED])
    known = (committed >= 0) & (log_end >= 0)
    lag = np.where(known, np.maximum(log_end - committed, 0), UNKNOWN)

    _learn_rest(marks, lag, advanced)
    _learn_wait(marks, sighting, lag, elapsed, advanced, sure)
    _learn_commits(marks, figures, sighting, advanced, sure)
    _learn_rewind(marks, committed, now, ~lost)
    _learn_rates(marks, figures, log_end, elapsed, sure & ~fell)
    # What was left before a long silence, or a step back, says nothing of what is left after it.
    anew = advanced & (_span(now, marks[Mark.ADVANCED_AT]) > patience_ms(marks))
    anew |= ~lost & (committed < marks[Mark.COMMITTED])
    if anew.any():
        averages = [Figure.LAG_QUICK, Figure.LAG_SLOW]
        figures[averages] = np.where(anew, lag, figures[averages])
    _learn_backlog(marks, figures, sighting, lag, elapsed, advanced & sure, lost)
    marks[Mark.SEEN_AT] = now
    marks[Mark.ADVANCED_AT] = np.where(advanced | lost, now, marks[Mark.ADVANCED_AT])
    marks[Mark.COMMITTED] = committed
    marks[Mark.LOG_END] = log_end


def _learn_rest(marks: Int64, lag: Int64, advanced: Bools) -> None:
    resting = marks[Mark.RESTING]
    resting += advanced & (lag == 1) & (resting < 0)
    resting[lag == 0] = -RESTS


def _learn_wait(
    marks: Int64, sighting: Sighting, lag: Int64, elapsed: Int64, advanced: Bools, sure: Bools
) -> None:
    """How long the offset stands still although there is something to read."""
    since = marks[Mark.WAITING_SINCE]
    # What came and was read between two observations took that long at most.
    wait = np.where(since >= 0, _span(sighting.at, since), elapsed)
    ended = advanced & sure
    too_long = wait > patience_ms(marks)
    _remember_pause(marks, wait, ended, too_long, sighting.at)
    marks[Mark.WAITS] = np.minimum(marks[Mark.WAITS] + ended, ENOUGH_WAITS)
    waiting = lag > caught_up_lag(marks, sighting.allowed_lag)
    moved = advanced | (sighting.committed < marks[Mark.COMMITTED])
    since = np.where(moved | (since < 0), sighting.at, since)
    marks[Mark.WAITING_SINCE] = np.where(waiting, since, UNKNOWN)


def _remember_pause(
    marks: Int64, wait: Int64, ended: Bools, too_long: Bools, now: int | Int64
) -> None:
    """One that was too long may be an accident. A second one shows a habit: soon after, or hours
    later where no crash would have been found meanwhile. What a rebalance may take is one at once.
    """
    odd = marks[Mark.ODD_PAUSE]
    slower = np.where(odd <= LONGEST_PAUSE_MS, PAUSE_ACCIDENT, ACCIDENT)
    before = np.maximum(odd - _span(now, marks[Mark.ODD_AT]) // slower, 0)
    habit = (before >= wait // 3) | (wait <= REBALANCE_MS)
    learnt = np.where(too_long, np.where(habit, np.maximum(wait, REBALANCE_LEARNT_MS), 0), wait)
    faded = np.maximum(marks[Mark.PAUSE] - np.where(ended, wait // MEMORY, 0), 0)
    marks[Mark.PAUSE] = np.where(ended, np.maximum(faded, learnt), faded)
    noted = ended & too_long & (wait >= before)
    marks[Mark.ODD_PAUSE] = np.where(noted, wait, odd)
    marks[Mark.ODD_AT] = np.where(noted, now, marks[Mark.ODD_AT])


def _span(until: int | Int64, since: Int64) -> Int64:
    """Never negative, whatever the clocks do, and never silly."""
    return np.minimum(np.maximum(until - since, 0), _LONGEST_MS)


def _remember(
    marks: Int64,
    longest: Mark,
    odd: Mark,
    length: Int64,
    ended: Bools,
    too_long: Bools,
    fade: Int64,
    elapsed: Int64,
) -> None:
    """One that was too long may be an accident; a second one soon after shows a habit."""
    before = np.maximum(marks[odd] - elapsed // ACCIDENT, 0)
    habit = before >= length // 3
    learnt = np.where(too_long & ~habit, 0, length)
    usual = np.maximum(marks[longest] - fade, 0)
    marks[longest] = np.where(ended, np.maximum(usual, learnt), usual)
    marks[odd] = np.where(ended & too_long, np.maximum(before, length), before)


def _learn_commits(
    marks: Int64, figures: Floats, sighting: Sighting, advanced: Bools, sure: Bools
) -> None:
    came = (sighting.commits > 0) & (sighting.committed >= 0)
    repeats = marks[Mark.REPEATS] + np.where(came, np.minimum(sighting.commits, 1_000), 0)
    marks[Mark.REPEATS] = np.where(advanced, 0, np.minimum(repeats, 1_000_000))
    marks[Mark.COMMIT_SEEN_AT] = np.where(came, sighting.at, marks[Mark.COMMIT_SEEN_AT])
    known = came & sure & (marks[Mark.COMMITTED_AT] != UNKNOWN)
    gap = _span(sighting.committed_at, marks[Mark.COMMITTED_AT])
    pause = gap / np.maximum(sighting.commits, 1)
    average = figures[Figure.COMMIT_PAUSE]
    smoothed = np.where(average < 0, pause, average + (pause - average) / 8)
    figures[Figure.COMMIT_PAUSE] = np.where(known & (gap > 0), smoothed, average)
    marks[Mark.COMMITTED_AT] = np.where(came, sighting.committed_at, marks[Mark.COMMITTED_AT])


def _learn_rewind(marks: Int64, committed: Int64, now: int | Int64, known: Bools) -> None:
    before = marks[Mark.COMMITTED]
    back = known & (committed < before)
    if not (back.any() or (marks[Mark.REWOUND_FROM] >= 0).any()):
        return
    began = back & (marks[Mark.REWOUND_FROM] < 0)
    marks[Mark.REWOUND_FROM] = np.where(began, before, marks[Mark.REWOUND_FROM])
    marks[Mark.REWOUND_AT] = np.where(began, now, marks[Mark.REWOUND_AT])
    there = committed >= marks[Mark.REWOUND_FROM]
    marks[Mark.REWOUND_FROM] = np.where(there, UNKNOWN, marks[Mark.REWOUND_FROM])
    marks[Mark.REWOUND_AT] = np.where(there, UNKNOWN, marks[Mark.REWOUND_AT])


def _learn_rates(
    marks: Int64, figures: Floats, log_end: Int64, elapsed: Int64, sure: Bools
) -> None:
    known = sure & (elapsed > 0) & (log_end >= 0) & (marks[Mark.LOG_END] >= 0)
    rate = (log_end - marks[Mark.LOG_END]) * 1000.0 / np.maximum(elapsed, 1)
    _smooth(figures, Figure.PRODUCED, rate, known, elapsed, RATE_MS)


def _smooth(
    figures: Floats,
    figure: Figure,
    value: Floats | Int64,
    known: Bools,
    elapsed: Int64,
    span: int | Int64,
) -> None:
    average = figures[figure]
    share = np.where(average < 0, 1.0, elapsed / (elapsed + span))
    figures[figure] = np.where(known, average + (value - average) * share, average)


def _learn_backlog(
    marks: Int64,
    figures: Floats,
    sighting: Sighting,
    lag: Int64,
    elapsed: Int64,
    advanced: Bools,
    lost: Bools,
) -> None:
    """Whether what an advance leaves to read gets more and more.

    Looked at only when the offset has advanced: in between any lag grows.
    """
    since_advance = _span(sighting.at, marks[Mark.ADVANCED_AT])
    # Those who pause long are looked at rarely: their averages must look back further.
    span = np.maximum(2 * marks[Mark.PAUSE], LAG_MS)
    known = advanced & (lag >= 0)
    _smooth(figures, Figure.LAG_QUICK, lag, known, since_advance, span)
    _smooth(figures, Figure.LAG_SLOW, lag, known, since_advance, span * SLOWER)
    explained = explained_lag(marks, figures, sighting.allowed_lag)
    since = marks[Mark.BEHIND_SINCE]
    behind = np.where(advanced, lag > explained, (since >= 0) & (lag > explained))
    length = np.where(since >= 0, _span(sighting.at, since), 0)
    ended = (since >= 0) & ~behind
    too_long, fade = length > np.maximum(2 * marks[Mark.BACKLOG], BURST_MS), elapsed // MEMORY
    _remember(marks, Mark.BACKLOG, Mark.ODD_BACKLOG, length, ended, too_long, fade, elapsed)
    marks[Mark.BEHIND_SINCE] = np.where(behind, np.where(since >= 0, since, sighting.at), UNKNOWN)
    rise = figures[Figure.LAG_QUICK] - figures[Figure.LAG_SLOW]
    rises = (lag >= marks[Mark.PEAK]) & (rise > explained / 4)
    starts = advanced & behind & too_long & rises
    peak = np.where(advanced, np.maximum(marks[Mark.PEAK], lag), marks[Mark.PEAK])
    marks[Mark.PEAK] = np.where(behind, peak, 0)
    level = lost | ((lag >= 0) & (lag <= explained))
    marks[Mark.LEVEL_AT] = np.where(level, sighting.at, marks[Mark.LEVEL_AT])
    was = marks[Mark.GROWING]
    grows = behind & np.where(was == 1, rise > 0, starts)
    too_long = behind & (length > BURST_MS)
    late = _is_late(marks, figures, sighting, lag, rise, explained, advanced, behind, too_long)
    marks[Mark.GROWING] = np.where(grows, 1, np.where(late, LATE, 0))


def _is_late(
    marks: Int64,
    figures: Floats,
    sighting: Sighting,
    lag: Int64,
    rise: Floats,
    explained: Floats,
    advanced: Bools,
    behind: Bools,
    too_long: Bools,
) -> Bools:
    """A backlog that is neither growing nor shrinking, by more than the dead band."""
    was = marks[Mark.GROWING] == LATE
    limit = np.maximum(LATE_MS, LATE_TIMES * marks[Mark.PAUSE])
    late = late_ms(marks, figures, lag, sighting.at)
    far = behind & (lag > marks[Mark.PEAK] / 2)
    starts = advanced & too_long & (late > limit) & (rise >= -explained / 4)
    is_late: Bools = far & np.where(was, late > limit / 2, starts)
    return is_late
