"""Track: what policy `progress` remembers of partitions, and the observations it is made of.

An observation is what one event says of a partition: committed offset and log end at one moment.
What counts is which of the two moved, and when. Times are those of the observations, so that no
client's clock matters. docs/evaluation.md gives the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

Floats: TypeAlias = NDArray[np.float64]
Figures: TypeAlias = NDArray[np.float32]

# As marks of GROWING, beside 1:
LATE = 2
CATCHING_UP = 3  # far behind, after a wait that was too long
RECOVERING = -1  # no longer far, but not level yet
# As marks of TREND.
RISES = 1
FALLS = -1
LONGEST_MS = 30 * 86_400_000
# So many times the usual pace, a look is only late.
LATE_LOOK = 2
# REWOUND_AT is even, but for this: the offset goes back again and again.
TO_AND_FRO = 1
# Pauses that were seen are even numbers of ms; this is added to one that was only assumed.
ASSUMED = 1
# REST is even, but for this: it rested so before, too.
AGAIN = 1


class Mark(IntEnum):
    """Whole numbers to remember; times are Unix milliseconds, UNKNOWN where there is none."""

    SEEN_AT = 0  # newest observation
    COMMITTED = 1
    COMMITTED_AT = 2  # as the commit has it, for the usual pause
    LOG_END = 3  # newest known
    COMMIT_SEEN_AT = 4  # newest observation with a commit, whatever its offset
    REPEATS = 5  # commits since the offset advanced
    WAITING_SINCE = 6  # there is something to read, and the offset has not advanced
    PAUSE = 7  # longest other wait of late, ms, odd where ASSUMED; see GOES
    ODD_PAUSE = 8  # longest one of late that was too long, ms
    WAITS = 9  # how many waits were seen, as many as tell how long one may be at most
    BEHIND_SINCE = 10  # an advance leaves more lag than is usual
    BACKLOG = 11  # longest time behind of late, ms
    ODD_BACKLOG = 12  # longest one of late with a growing lag, ms
    RESTING = 13  # >= 0: a lag of 1 counts as caught up; else RESTS - seen at 1, negative
    REWOUND_FROM = 14  # the committed offset before it went back
    REWOUND_AT = 15  # the last time; see TO_AND_FRO
    ADVANCED_AT = 16
    PEAK = 17  # most lag that an advance has left since then
    GROWING = 18  # 1 once the lag was found growing, until it shrinks; else LATE and others above
    LEVEL_AT = 19  # newest observation with no more lag than is explained
    ODD_AT = 20  # when that odd pause, or the last one of those of each day, began
    REST = 21  # last long wait, ms, if it had worked for no longer than a run before; else 0
    REST_AT = 22  # when the last long wait ended; of the first the last commit, an hour ago at most
    REBALANCED = 23  # so much of this wait a rebalance took, ms
    THERE_SINCE = 24  # the group has had members, but for short absences
    GONE_SINCE = 25  # it has none
    ABSENT = 26  # for so long it had none during this wait, and has some again, ms
    GOES = 27  # longest wait of late during which the group had no members for a while; as PAUSE
    LOG_END_AT = 28  # observation that LOG_END is of
    KNOWN_SINCE = 29  # first observation
    ODD_APART = 30  # from the beginning of the odd pause before to that of the last one, ms
    REPEATING = 31  # longest wait of late with commits of the same offset, ms
    TREND = 32  # of a lag that is told: RISES, FALLS, or 0
    OPEN_SINCE = 33  # it stands where a transaction is open
    HELD = 34  # so much of this wait it has, ms
    OPEN = 35  # longest wait of late that was mostly so, ms
    STOPS = 36  # so many that are no habit, each soon after the one before
    STOP_AT = 37  # when the last of them began
    STOP_LENGTH = 38  # of them, on average, ms
    LOOP_SINCE = 39  # when the first of them began
    LEAST_COMMITTED = 40  # records of a commit of late
    MOST_COMMITTED = 41
    PART = 42  # so much of this wait does not count, for less was left than one commit is of, ms
    LEVEL_SINCE = 43  # its lateness is from LEAST_LATE to MOST_LATE, which is not usual
    BURST = 44  # longest burst of late, from its beginning until the lag grew no more, ms
    PAUSE_AT = 45  # from when on PAUSE is forgotten after a while
    GOES_AT = 46  # the same of GOES
    READ_ALL_AT = 47  # newest observation with no more lag than who is never late may leave
    BUSY_AT = 48  # when the last busy hours began
    BUSY_APART = 49  # from the ones before to those, ms


NARROW = (Mark.REPEATS, Mark.WAITS, Mark.RESTING, Mark.GROWING, Mark.TREND)
"""Marks that are kept in 32 bits; the others need 64."""


class Figure(IntEnum):
    """Averages; UNKNOWN until there is one."""

    COMMIT_PAUSE = 0  # between two commits, ms
    PRODUCED = 1  # records per second
    LAG_QUICK = 2
    LAG_SLOW = 3
    USUALLY_PRODUCED = 4  # records per second over half an hour
    CONSUMED = 5  # records per second
    DAILY = 6  # longest pause of late that comes each ODD_APART, ms; some were kept as negative
    USUALLY_LEFT = 7  # by an advance: so long it takes to be written, ms, over an hour
    VARIES = 8  # by so much that does on average, ms
    LEAST_LATE = 9  # since LEVEL_SINCE, ms
    MOST_LATE = 10
    WRITTEN = 11  # records per second, over half of what it usually is late
    BUSY = 12  # so late it is in its busy hours, ms, once they are known
    BUSY_MOST = 13  # so late it was in the last ones, ms
    BUSY_FOR = 14  # so long they took, ms


FRESH = np.full(len(Mark), UNKNOWN, np.int64)
FRESH[
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
        Mark.REST,
        Mark.REBALANCED,
        Mark.ABSENT,
        Mark.GOES,
        Mark.REPEATING,
        Mark.TREND,
        Mark.HELD,
        Mark.OPEN,
        Mark.STOPS,
        Mark.STOP_LENGTH,
        Mark.PART,
        Mark.BURST,
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
    presence: int | Int64 = UNKNOWN  # of members: a Presence, for all, or [N]
    log_start: int | Int64 = UNKNOWN
    last_stable: int | Int64 = UNKNOWN  # nobody may read further who reads committed records
    pace_ms: int = LONGEST_MS  # every group is looked at so often: what took longer was not seen

    def is_late(self, elapsed: Int64) -> Bools:
        """[partition] nobody has looked for so long that nobody saw what happened meanwhile."""
        late: Bools = elapsed > LATE_LOOK * self.pace_ms
        return late


@dataclass(slots=True)
class Track:
    """What is known of P partitions; `learning.see` changes it."""

    marks: Int64  # [Mark, partition]
    figures: Figures  # [Figure, partition]

    @classmethod
    def empty(cls, partitions: int) -> Track:
        marks = np.repeat(FRESH[:, None], partitions, axis=1)
        return cls(marks, np.full((len(Figure), partitions), UNKNOWN, np.float32))

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
        self.marks[:, rows] = FRESH[:, None]
        self.figures[:, rows] = UNKNOWN


def span_ms(until: int | Int64, since: Int64) -> Int64:
    """Never negative, whatever the clocks do, and never silly."""
    return np.minimum(np.maximum(until - since, 0), LONGEST_MS)


def smooth(
    figures: Figures,
    figure: Figure,
    value: Floats | Int64,
    known: Bools,
    elapsed: Int64,
    span: int | Int64,
) -> None:
    """Takes in `value` where it is `known`: it weighs t / (t + span), t being the time `elapsed`
    since the last one, ms.
    """
    average = figures[figure]
    share = np.where(average < 0, 1.0, elapsed / np.maximum(elapsed + span, 1))
    figures[figure] = np.where(known, average + (value - average) * share, average)


def begin_lag_anew(figures: Figures, lag: Int64, which: Bools) -> None:
    """Both averages of the lag are this one."""
    if which.any():
        averages = [Figure.LAG_QUICK, Figure.LAG_SLOW]
        figures[averages] = np.where(which, lag, figures[averages])
