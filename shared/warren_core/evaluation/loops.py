"""Loops: stops that come again and again. They are no habit, however regular."""

import numpy as np

from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import Mark, span_ms
from warren_core.evaluation.windows import Bools, Int64

LOOP = Rule(
    "loop",
    learns="stops that are no habit, absences of 2 min and more, and shorter ones after one that "
    "was told, that begin within 2 h and eight of their lengths of the one before",
    speaks="from the third one on WARN in between, until none has begun for half as long again as "
    "usual; an absence is then told after 35 s",
    sentence="Who stops again and again is in a crash loop.",
)


A_LOOP = 3  # two stops may be one accident and what was done about it
FURTHEST_MS = BY.often * BY.unseen  # two hours: what begins further apart is no loop


def learn_loop(
    marks: Int64, wait: Int64, stopped: Bools, was_away: Bools, now: int | Int64
) -> None:
    """`stopped`: a wait has ended that neither a habit nor a day explains; `was_away`: an absence,
    which is one more stop where it soon follows one, though it may be a habit by now.
    """
    if not (LOOP.on and (stopped | was_away & (marks[Mark.STOPS] > 0)).any()):  # as mostly
        return
    count, at, since, length = marks[[Mark.STOPS, Mark.STOP_AT, Mark.LOOP_SINCE, Mark.STOP_LENGTH]]
    began = now - wait
    near = BY.often * np.minimum(np.maximum(wait, length), BY.unseen)
    again = (count > 0) & (span_ms(began, at) <= near)
    stopped = stopped | (was_away & again & (wait >= length // 2))
    number = np.where(again, np.minimum(count + 1, 1_000), 1)
    mean = np.where(again, length + (wait - length) // number, wait)
    marks[Mark.STOPS] = np.where(stopped, number, count)
    marks[Mark.STOP_AT] = np.where(stopped, began, at)
    marks[Mark.LOOP_SINCE] = np.where(stopped & ~again, began, since)
    marks[Mark.STOP_LENGTH] = np.where(stopped, mean, length)
    # What was taken for a habit, as of deployments, was a fault.
    marks[Mark.GOES] = np.where(stopped & again, 0, marks[Mark.GOES])


def apart_ms(marks: Int64) -> Int64:
    """[partition] from the beginning of one stop to that of the next, on average."""
    apart: Int64 = span_ms(marks[Mark.STOP_AT], marks[Mark.LOOP_SINCE]) // np.maximum(
        marks[Mark.STOPS] - 1, 1
    )
    return apart


def may_loop(marks: Int64, now: int | Int64) -> Bools:
    """[partition] it has stopped twice at least, and the next stop is not overdue."""
    may: Bools = marks[Mark.STOPS] > 1
    if may.any():
        may &= span_ms(now, marks[Mark.STOP_AT]) <= apart_ms(marks) * 3 // 2
    return may


def loops(marks: Int64, now: int | Int64) -> Bools:
    """[partition] it has stopped so often that it will do so again."""
    found: Bools = (marks[Mark.STOPS] >= A_LOOP) & LOOP.on
    if found.any():
        found &= may_loop(marks, now)
    return found
