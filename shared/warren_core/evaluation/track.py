"""Track: what policy `progress` remembers of partitions, and the observations it is made of.

An observation is what one event says of a partition: committed offset and log end at one moment.
What counts is which of the two moved, and when. Times are those of the observations, so that no
client's clock matters. docs/evaluation.md gives the reasons.

Returns: what is odd, and comes back at the same time of the hour, day or week, as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from warren_core.evaluation.rule import BY, Rule, S
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


RETURNS = Rule(
    "returns",
    learns="three stops, or growths, that were odd, each as long, and as long after the one before",
    speaks="the next one that begins when it is due has that time, and a quarter more; a stop only "
    "where that is a day or more",
    sentence="What comes back at its time, for its time, is usual.",
    parameters=("apart", "off"),
)
_ROOM_MS = 10 * S  # what has a usual length may take that longer, too
_DAY_MS = 20 * 3_600_000  # what is less far apart is no day; a stop that comes more often is a loop
_MOST_OFF_MS = 2 * 3_600_000  # days are busy a little earlier or later
_ENOUGH = 1  # times that it has come back after as long as before
_LEFT_OUT = 3  # so many turns may go by without one


def with_room(length: Int64) -> Int64:
    """How long may take what usually takes so long."""
    longer: Int64 = length + (length * BY.room).astype(np.int64) + np.minimum(length, _ROOM_MS)
    return longer


def _turn(marks: Int64, began: Int64) -> tuple[Bools, Int64]:
    """[partition] it began when one is due; and how long after the last one."""
    at, apart = marks[[Mark.RETURN_AT, Mark.RETURN_APART]]
    since = span_ms(began, at)
    turns = np.maximum((since + apart // 2) // np.maximum(apart, 1), 1)
    off = np.abs(since - turns * apart)
    most = np.minimum(BY.off * apart, _MOST_OFF_MS)
    is_due: Bools = (apart >= BY.apart) & (turns <= _LEFT_OUT) & (off <= most)
    return is_due, since


def returning_ms(marks: Int64, began: Int64, *, is_stop: bool) -> Int64 | int:
    """[partition] how long what began then is usual; 0 where nothing is due."""
    known = (marks[Mark.RETURNS] >= _ENOUGH) & RETURNS.on & (began >= 0)
    if is_stop:
        known &= marks[Mark.RETURN_APART] >= _DAY_MS
    if not known.any():  # as mostly
        return 0
    is_due, _ = _turn(marks, began)
    return np.where(known & is_due, marks[Mark.RETURN_LENGTH], 0)


def learn_return(marks: Int64, odd: Bools, began: Int64, length: Int64) -> None:
    """`odd`: something has ended that began then and took so long, and nothing explains it."""
    if not (odd.any() and RETURNS.on):
        return
    apart, before = marks[[Mark.RETURN_APART, Mark.RETURN_LENGTH]]
    is_due, since = _turn(marks, began)
    alike = is_due & (2 * length >= before) & (length <= 2 * before)
    # An accident in between is none of them; what has not come for so long is forgotten.
    odd = odd & ~((marks[Mark.RETURNS] > 0) & ~alike & (since < (_LEFT_OUT + 1) * apart))
    again = np.where(marks[Mark.RETURN_AT] < 0, UNKNOWN, np.where(alike, apart, since))
    count = np.where(alike, np.minimum(marks[Mark.RETURNS] + 1, 1_000), 0)
    longest = np.where(alike, np.maximum(length, before - before // 8), length)
    for mark, value in (
        (Mark.RETURN_AT, began),
        (Mark.RETURN_APART, again),
        (Mark.RETURNS, count),
        (Mark.RETURN_LENGTH, longest),
    ):
        marks[mark] = np.where(odd, value, marks[mark])
