"""Clockwork: long pauses that come at equal distances, and what they excuse: only what comes when
the clock says so. What is as long and comes at any time is an accident, however often it comes.
"""

from __future__ import annotations

import numpy as np

from warren.evaluation.presence import LOOK_MS, was_absent
from warren.evaluation.track import Figure, Figures, Mark, span_ms
from warren.evaluation.windows import UNKNOWN, Bools, Int64

# The distances, from where one begins to where the next does, differ by no more than so much.
REGULAR_APART = 0.13
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


def is_due(marks: Int64, figures: Figures, began: int | Int64) -> Bools:
    """[partition] a wait that began then is as far from the odd pause before as that from the one
    before it; where there is a clock some may have been left out.
    """
    turns, off = _off_by(marks, began)
    turns_most = np.where(has_clock(figures), MOST_TURNS, 1)
    apart = marks[Mark.ODD_APART]
    due: Bools = (np.abs(off) <= REGULAR_APART * apart) & (turns <= turns_most) & (apart > 0)
    return due


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
    on_time = np.abs(off) <= REGULAR_APART * apart + LOOK_APART_MS
    began: Bools = has_clock(figures) & (since > at) & on_time & (turns <= MOST_TURNS)
    return began


def excused_ms(marks: Int64, figures: Figures, has_gone: Bools) -> Int64:
    """[partition] how long this wait may take, since one was due. Pauses with members excuse nobody
    who has gone; pauses without, nobody who is there, but for who may have gone since one looked.
    """
    length = _length_with_room(figures)
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


def keep_clock(marks: Int64, figures: Figures, wait: Int64, began: Int64, came: Bools) -> None:
    """`came`: this wait, since then, was due, or begins a clock."""
    at, apart = marks[[Mark.ODD_AT, Mark.ODD_APART]]
    # What comes now early and now late is nearer to the clock than to the one before.
    turns, off = _off_by(marks, began)
    then = np.where(has_clock(figures), at + turns * apart + off // OFF, began)
    marks[Mark.ODD_AT] = np.where(came, then, at)
    marks[Mark.ODD_APART] = np.where(came, apart + off // turns // OFF // OFF, apart)
    length = clock_ms(figures)
    excused = (length == 0) | (wait <= _length_with_room(figures))
    shorter = length - (length - wait) // SHORTER
    kept = np.where(excused, np.maximum(wait, shorter), length)
    kept = np.where(was_absent(marks), -kept, kept)
    figures[Figure.CLOCKWORK] = np.where(came, kept, figures[Figure.CLOCKWORK])
