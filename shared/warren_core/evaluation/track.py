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

LONGEST_MS = 30 * 86_400_000
# So many times the usual pace, a look is only late.
LATE_LOOK = 2
# REWOUND_AT is even, but for this: the offset goes back again and again.
TO_AND_FRO = 1


class Alarm(IntEnum):
    """Marks of TOLD: what is told of a backlog."""

    NOTHING = 0
    GROWS = 1
    CATCHES_UP = 2  # it stood still for too long, and reads again


class Mark(IntEnum):
    """Whole numbers to remember; times are Unix milliseconds, UNKNOWN where there is none."""

    SEEN_AT = 0  # newest observation
    KNOWN_SINCE = 1  # first observation
    COMMITTED = 2
    COMMITTED_AT = 3  # as the commit has it, for the usual pause
    COMMIT_SEEN_AT = 4  # newest observation with a commit, whatever its offset
    REPEATS = 5  # commits since the offset advanced
    LOG_END = 6  # newest known
    LOG_END_AT = 7  # observation that it is of
    ADVANCED_AT = 8
    WAITING_SINCE = 9  # there is something to read, and the offset has not advanced
    REBALANCED = 10  # so much of this wait a rebalance took, ms
    OPEN_SINCE = 11  # it stands where a transaction is open
    WAITS = 12  # how many waits were seen, as many as tell how long one may be at most
    PAUSE = 13  # longest wait of this day while members were there, or nobody knows, ms
    PAUSE_BEFORE = 14  # the same of the day before
    GOES = 15  # longest one during which the group had no members, ms
    GOES_BEFORE = 16
    GROWTH = 17  # longest time that a lag has grown, ms
    GROWTH_BEFORE = 18
    DAY_AT = 19  # when this day began
    REST = 20  # last long wait, ms
    REST_AT = 21  # when it ended; of the first the last commit, six hours ago at most
    READ_ALL_AT = 22  # newest observation with no more lag than is explained
    THERE_SINCE = 23  # the group has had members, but for short absences
    GONE_SINCE = 24  # it has none
    ABSENT = 25  # for so long it had none during this wait, and has some again, ms
    LEAST_COMMITTED = 26  # records of a commit of late
    MOST_COMMITTED = 27
    REWOUND_FROM = 28  # the committed offset before it went back
    REWOUND_AT = 29  # the last time; see TO_AND_FRO
    LEVEL_AT = 30  # newest observation at its level; what it stood still since does not count
    PEAK = 31  # most lag above its level since then; 0: it is not behind
    PEAK_AT = 32
    ALARM = 33  # an Alarm
    STAYS_SINCE = 34  # the lag has neither grown nor shrunk
    RETURN_AT = 35  # when the last stop, or growth, that was odd began
    RETURN_APART = 36  # from one to the next, ms
    RETURNS = 37  # how often it has come back after that, as long
    RETURN_LENGTH = 38  # ms


NARROW = (Mark.REPEATS, Mark.WAITS, Mark.ALARM, Mark.RETURNS)
"""Marks that are kept in 32 bits; the others need 64."""


class Figure(IntEnum):
    """Averages; UNKNOWN until there is one."""

    COMMIT_PAUSE = 0  # between two commits, ms
    PRODUCED = 1  # records per second
    USUALLY_PRODUCED = 2  # records per second over half an hour
    CONSUMED = 3  # records per second
    LEVEL_LAG = 4  # that its advances leave
    LEVEL_RATE = 5  # records per second that were written meanwhile
    VARIES = 6  # by so much that is usually less, ms
    STAYS_LAG = 7  # since STAYS_SINCE


_NONE_YET = (
    *(Mark.REPEATS, Mark.REBALANCED, Mark.WAITS, Mark.PAUSE, Mark.PAUSE_BEFORE, Mark.GOES),
    *(Mark.GOES_BEFORE, Mark.GROWTH, Mark.GROWTH_BEFORE, Mark.REST, Mark.ABSENT, Mark.PEAK),
    *(Mark.ALARM, Mark.RETURNS, Mark.RETURN_LENGTH),
)
FRESH = np.full(len(Mark), UNKNOWN, np.int64)
FRESH[list(_NONE_YET)] = 0


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


def longest(marks: Int64, mark: Mark) -> Int64:
    """[partition] PAUSE, GOES or GROWTH that counts: of this day and of the day before, ms."""
    counts: Int64 = np.maximum(marks[mark], marks[mark + 1])
    return counts


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
