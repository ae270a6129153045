"""Busy hours: who is late at the same time of each day, or week, is so by habit."""

import numpy as np

from warren_core.evaluation.presence import turns_since, with_room
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import LONGEST_MS, Figure, Figures, Floats, Mark, span_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

BUSY = Rule(
    "busy hours",
    learns="how late it was, and for how long, three times at the same time of day or week",
    speaks="who falls behind when it is due is neither growing nor late, up to a third more and as "
    "much longer",
    sentence="Who is late at the same time each day, or week, has busy hours.",
)


def is_busy(marks: Int64, figures: Figures, late: Floats, now: int | Int64) -> Bools:
    """[partition] these are its busy hours, and it is no later than in them. `late`, ms."""
    known = _known(figures) & BUSY.on
    if not known.any():  # as mostly
        return known
    usual, length = figures[[Figure.BUSY, Figure.BUSY_FOR]].astype(np.int64)
    since = marks[Mark.BEHIND_SINCE]
    due = _is_due(marks, figures, since) & (since >= 0)
    busy: Bools = known & due & (late <= with_room(usual))
    return busy & (span_ms(now, since) <= with_room(length))


def learn_busy(
    marks: Int64, figures: Figures, ended: Bools, late: Floats, now: int | Int64
) -> None:
    """`ended`: it was behind until now, `late` at most by so much, ms."""
    began = marks[Mark.BEHIND_SINCE]
    ended = ended & (span_ms(now, began) > BY.long) & BUSY.on
    if not ended.any():  # as mostly
        return
    at, apart = marks[[Mark.BUSY_AT, Mark.BUSY_APART]]
    most, length = figures[[Figure.BUSY_MOST, Figure.BUSY_FOR]]
    since = span_ms(began, at)
    old = (at < 0) | (since > BY.turns * np.maximum(apart, BY.day) + BY.off)
    known = _known(figures) & ~old
    again = ended & ~old & (since < BY.day // 2)  # of the same evening
    due = ended & ~old & ~again & _is_due(marks, figures, began)
    # About as late: one that is late by little is no evening, nor does it end a habit.
    alike = late * 2 >= most
    first = due & ~known & alike & (late <= 2 * most)
    known |= first
    anew = ended & ~again & ~known & (old | alike)
    turns, off = turns_since(at, apart, began)
    then = np.where(known & due, at + turns * apart + off // 2, began)
    marks[Mark.BUSY_AT] = np.where(anew | (due & known), then, at)
    marks[Mark.BUSY_APART] = np.where(anew, np.where(old, UNKNOWN, since), apart)
    more = (again & alike) | (due & known)
    whole = span_ms(now, marks[Mark.BUSY_AT])
    figures[Figure.BUSY_FOR] = np.where(
        anew, whole, np.where(more, np.maximum(length, whole), length)
    )
    faded = np.where(due & known, most - (most - late) / BY.known_waits, most)
    most = np.where(anew, late, np.where(more, np.maximum(faded, late), most))
    figures[Figure.BUSY_MOST] = np.minimum(most, LONGEST_MS)
    figures[Figure.BUSY] = np.where(known, figures[Figure.BUSY_MOST], UNKNOWN)


def _known(figures: Figures) -> Bools:
    known: Bools = figures[Figure.BUSY] > 0
    return known


def _is_due(marks: Int64, figures: Figures, began: Int64) -> Bools:
    """[partition] that is in the busy hours of a day or week, or a little off."""
    apart = marks[Mark.BUSY_APART]
    turns, off = turns_since(marks[Mark.BUSY_AT], apart, began)
    length = np.where(_known(figures), figures[Figure.BUSY_FOR], 0)
    due: Bools = (off >= -BY.off) & (off <= length + BY.off)
    due &= (turns <= BY.turns) & (apart >= BY.day)
    return due
