"""Daily: long pauses of each day or week. What comes more often, and at regular times, is a crash
that repeats, and excuses nothing.
"""

import numpy as np

from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import Figure, Figures, Mark, span_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

DAILY = Rule(
    "daily",
    learns="three pauses, each about as long, that begin at the same time of day or week",
    speaks="a pause that begins when one is due has that time",
    sentence="What comes at the same time each day, or week, is a habit.",
    parameters=("day", "off", "alike", "turns"),
)


def daily_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long such a pause takes; 0 where there is none."""
    length = np.abs(figures[Figure.DAILY]).astype(np.int64)  # UNKNOWN is -1
    return np.where((length > 1) & (marks[Mark.ODD_APART] >= BY.day), length, 0)


def excused_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long this wait may take, since one was due."""
    length = daily_ms(marks, figures)
    if not length.any():  # as mostly
        return length
    return np.where(began_when_due(marks, figures), with_room(length), 0)


def began_when_due(marks: Int64, figures: Figures) -> Bools:
    """[partition] this wait did."""
    since = marks[Mark.WAITING_SINCE]
    began: Bools = (daily_ms(marks, figures) > 0) & (since > marks[Mark.ODD_AT])
    began &= _is_due(marks, since)
    return began


def with_room(pause: Int64) -> Int64:
    """How long one may take that usually takes so long."""
    return pause + pause // 3 + np.minimum(pause, BY.room)


def learn_daily(
    marks: Int64, figures: Figures, wait: Int64, crashed: Bools, now: int | Int64
) -> Bools:
    """`crashed`: a wait has ended that was longer than any pause may be. [partition] it is not to
    be noted as an odd one: it was due, or came between two that are.
    """
    known = daily_ms(marks, figures) > 0
    if not DAILY.on or not (crashed.any() or known.any()):
        return np.zeros_like(crashed)
    at, apart, odd = marks[[Mark.ODD_AT, Mark.ODD_APART, Mark.ODD_PAUSE]]
    most = (BY.turns * apart) + BY.off
    missed = span_ms(now, at) > most + with_room(daily_ms(marks, figures))
    figures[Figure.DAILY] = np.where(known & missed, UNKNOWN, figures[Figure.DAILY])
    known &= ~missed
    began = now - wait
    turns, late = turns_since(at, apart, began)
    alike = np.abs(wait - odd) <= BY.alike * np.maximum(odd, wait)
    due = crashed & _is_due(marks, began) & (known | alike & (turns == 1))
    # The day is set by half of what this one is off; the length follows, sooner up than down.
    then = np.where(known, at + turns * apart + late // 2, began)
    length = daily_ms(marks, figures)
    excused = ~known | (wait <= with_room(length))
    length = np.where(excused, np.maximum(wait, length - (length - wait) // BY.known_waits), length)
    marks[Mark.ODD_AT] = np.where(due, then, at)
    marks[Mark.ODD_APART] = np.where(due, apart + late // turns // 4, apart)
    figures[Figure.DAILY] = np.where(due, length, figures[Figure.DAILY])
    found: Bools = known | due
    return found


def _is_due(marks: Int64, began: Int64) -> Bools:
    """[partition] a day or week, or some of them, have gone by since the odd pause before."""
    turns, late = turns_since(marks[Mark.ODD_AT], marks[Mark.ODD_APART], began)
    due: Bools = (np.abs(late) <= BY.off) & (turns <= BY.turns)
    due &= marks[Mark.ODD_APART] >= BY.day
    return due


def turns_since(at: Int64, apart: Int64, began: Int64) -> tuple[Int64, Int64]:
    """[partition] how many have gone by, about, and how late it is then, ms."""
    apart = np.maximum(apart, 1)
    since = span_ms(began, at)
    turns = np.maximum((since + apart // 2) // apart, 1)
    return turns, since - turns * apart
