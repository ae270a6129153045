"""Clockwork: long pauses that come at equal distances, and what they excuse: only what comes when
the clock says so. What is as long and comes at any time is an accident, however often it comes.
"""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.presence import LOOK_MS, was_absent
from warren_core.evaluation.track import Figure, Figures, Mark, span_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

# The distances, from where one begins to where the next does, differ by no more than so much; or
# those from end to end by less, as of jobs that start by the clock and take now long and now short.
REGULAR_APART = 0.1
ENDS_REGULAR_APART = 0.05
# The lengths of two that begin a clock, by no more than so much of the longer one: accidents do.
ALIKE = 0.25
# The next may be a third longer, and a little.
ROOM_MS = 80_000
# A shorter one takes so much of the difference off the length,
SHORTER = 8
# and each sets the clock by this much of what it is off.
OFF = 2
# Who waits with members where it usually has none may have gone since one looked.
LOOKED_MS = LOOK_MS + 40_000
# So long before or after, one look may not tell.
LOOK_APART_MS = 10_000
# Two may be left out, as amid trouble. After three it is forgotten.
MOST_TURNS = 3


def has_clock(figures: Figures) -> Bools:
    """[partition]"""
    has: Bools = np.abs(figures[Figure.CLOCKWORK]) > 1  # UNKNOWN is -1
    return has


def clock_ms(figures: Figures) -> Int64:
    """[partition] how long its pauses are, with members or without; 0 where there is no clock."""
    clock = np.abs(figures[Figure.CLOCKWORK]).astype(np.int64)
    return np.where(clock > 1, clock, 0)


def by_ends(marks: Int64, figures: Figures) -> Bools:
    """[partition] its clock goes by where pauses end."""
    ends: Bools = has_clock(figures) & (marks[Mark.ENDS_APART] > 0)
    return ends


def is_due(marks: Int64, figures: Figures, began: Int64, now: int | Int64) -> Bools:
    """[partition] a wait that began then, and ends now, is as far from the odd pause before as that
    from the one before it; where there is a clock some may have been left out.
    """
    ends = by_ends(marks, figures)
    turns, off = _off_by(marks, np.where(ends, now, began))
    turns_most = np.where(has_clock(figures), MOST_TURNS, 1)
    apart = marks[Mark.ODD_APART]
    most = np.where(ends, ENDS_REGULAR_APART, REGULAR_APART) * apart
    due = (np.abs(off) <= most) & (turns <= turns_most) & (apart > 0)
    found: Bools = due | ~has_clock(figures) & _ends_are_regular(marks, now)
    return found


def ended_at(marks: Int64) -> Int64:
    """[partition] the odd pause before, while there is no clock."""
    ended: Int64 = marks[Mark.ODD_AT] + marks[Mark.ODD_PAUSE]
    return ended


def _ends_are_regular(marks: Int64, now: int | Int64) -> Bools:
    apart = marks[Mark.ENDS_APART]
    off = span_ms(now, ended_at(marks)) - apart
    regular: Bools = (apart > 0) & (np.abs(off) <= ENDS_REGULAR_APART * apart)
    return regular


def are_alike(marks: Int64, wait: Int64) -> Bools:
    """[partition] it takes about as long as the odd pause before."""
    odd = marks[Mark.ODD_PAUSE]
    alike: Bools = np.abs(wait - odd) <= ALIKE * np.maximum(odd, wait)
    return alike


def _off_by(marks: Int64, began: int | Int64) -> tuple[Int64, Int64]:
    """[partition] how often the clock has turned, about, and how late it is then, ms."""
    apart = np.maximum(marks[Mark.ODD_APART], 1)
    since = span_ms(began, marks[Mark.ODD_AT])
    turns = np.maximum((since + apart // 2) // apart, 1)
    return turns, since - turns * apart


def began_by_clock(marks: Int64, figures: Figures) -> Bools:
    """[partition] this wait began when one was due."""
    since, at, apart = marks[[Mark.WAITING_SINCE, Mark.ODD_AT, Mark.ODD_APART]]
    turns, off = _off_by(marks, since)
    on_time = (np.abs(off) <= REGULAR_APART * apart + LOOK_APART_MS) & (turns <= MOST_TURNS)
    ends = by_ends(marks, figures)
    if ends.any():
        turn, left = _next_end(marks)
        early = left <= _length_with_room(figures) + 2 * ENDS_REGULAR_APART * apart
        on_time = np.where(ends, early & (turn <= MOST_TURNS), on_time)
    began: Bools = has_clock(figures) & (since > at) & on_time
    return began


def _next_end(marks: Int64) -> tuple[Int64, Int64]:
    """[partition] the turn at which this wait is to end, and how long after its begin it must, ms.
    One that begins just after a turn may be late for that."""
    since, at, apart = marks[[Mark.WAITING_SINCE, Mark.ODD_AT, Mark.ODD_APART]]
    every, late = np.maximum(apart, 1), (ENDS_REGULAR_APART * apart).astype(np.int64)
    turn = np.maximum((np.maximum(since - at, 0) - late + every - 1) // every, 1)
    return turn, at + turn * every + late - since


def excused_ms(marks: Int64, figures: Figures, has_gone: Bools) -> Int64:
    """[partition] how long this wait may take, since one was due. Pauses with members excuse nobody
    who has gone; pauses without, nobody who is there, but for who may have gone since one looked.
    """
    length = _length_with_room(figures)
    ends = by_ends(marks, figures)
    if ends.any():
        length = np.where(ends, np.minimum(length, _next_end(marks)[1]), length)
    goes = figures[Figure.CLOCKWORK] < 0
    length = np.where(goes & ~was_absent(marks), np.minimum(length, LOOKED_MS), length)
    due = began_by_clock(marks, figures) & (goes | ~has_gone)
    return np.where(due, length, 0)


def _length_with_room(figures: Figures) -> Int64:
    length = clock_ms(figures)
    return length + length // 3 + ROOM_MS


def stop_clock(
    marks: Int64, figures: Figures, began: Int64, ended: Bools, now: int | Int64
) -> None:
    """Where the pauses that were due did not come, or one that came later has `ended`. One that was
    due and takes too long counts until it ends.
    """
    at, last = marks[Mark.ODD_AT], (MOST_TURNS + REGULAR_APART) * marks[Mark.ODD_APART]
    missed = span_ms(now, at) > last + clock_ms(figures)
    missed &= ~began_by_clock(marks, figures)
    stopped = missed | ended & (span_ms(began, at) > last)
    figures[Figure.CLOCKWORK] = np.where(stopped, UNKNOWN, figures[Figure.CLOCKWORK])


def keep_clock(
    marks: Int64, figures: Figures, wait: Int64, began: Int64, came: Bools, now: int | Int64
) -> None:
    """`came`: this wait, since then, was due, or begins a clock."""
    clock = has_clock(figures)
    # A clock begins by where pauses begin, if that is regular.
    turns, off = _off_by(marks, began)
    begins = (np.abs(off) <= REGULAR_APART * marks[Mark.ODD_APART]) & (turns == 1)
    ends = np.where(clock, by_ends(marks, figures), ~begins)
    new = came & ~clock & ends
    marks[Mark.ODD_AT] = np.where(new, ended_at(marks), marks[Mark.ODD_AT])
    marks[Mark.ODD_APART] = np.where(new, marks[Mark.ENDS_APART], marks[Mark.ODD_APART])
    marks[Mark.ENDS_APART] = np.where(came & ~clock & ~ends, 0, marks[Mark.ENDS_APART])
    at, apart = marks[[Mark.ODD_AT, Mark.ODD_APART]]
    # What comes now early and now late is nearer to the clock than to the one before.
    edge = np.where(ends, now, began)
    turns, off = _off_by(marks, edge)
    then = np.where(clock, at + turns * apart + off // OFF, edge)
    marks[Mark.ODD_AT] = np.where(came, then, at)
    marks[Mark.ODD_APART] = np.where(came, apart + off // turns // OFF // OFF, apart)
    length = clock_ms(figures)
    excused = (length == 0) | (wait <= _length_with_room(figures))
    shorter = length - (length - wait) // SHORTER
    kept = np.where(excused, np.maximum(wait, shorter), length)
    kept = np.where(was_absent(marks), -kept, kept)
    figures[Figure.CLOCKWORK] = np.where(came, kept, figures[Figure.CLOCKWORK])
