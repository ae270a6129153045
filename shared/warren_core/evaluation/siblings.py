"""Siblings: the partitions of a topic that one group reads. One that is new has their habits."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.track import ENOUGH_WAITS, Figure, Mark, Track
from warren_core.evaluation.usual import longest_habit_ms
from warren_core.evaluation.windows import Bools

# What is known of who reads, and not of what is read.
_HABITS = np.array(
    [
        Mark.WAITS,
        Mark.PAUSE,
        Mark.GOES,
        Mark.ODD_PAUSE,
        Mark.ODD_AT,
        Mark.ODD_APART,
        Mark.ENDS_APART,
        Mark.REPEATING,
        Mark.REST,
        Mark.REST_AT,
        Mark.RHYTHM,
        Mark.THERE_SINCE,
    ]
)
_RHYTHM = np.array(
    [Figure.COMMIT_PAUSE, Figure.RHYTHM_MEAN, Figure.RHYTHM_SPREAD, Figure.CLOCKWORK]
)


def inherit(track: Track, new: Bools, topic: slice) -> None:
    """New partitions of a topic take the habits of that sibling which waits the longest, where it
    is known how long one may.
    """
    marks, figures = track.marks[:, topic], track.figures[:, topic]
    known = ~new[topic] & (marks[Mark.WAITS] >= ENOUGH_WAITS)
    heirs = new[topic] & (marks[Mark.COMMITTED] >= 0)
    if not (known.any() and heirs.any()):
        return
    habit = np.where(known, longest_habit_ms(marks, figures), -1)
    sibling = int(habit.argmax())
    heirs_at = np.flatnonzero(heirs)
    marks[np.ix_(_HABITS, heirs_at)] = marks[_HABITS, sibling][:, None]
    figures[np.ix_(_RHYTHM, heirs_at)] = figures[_RHYTHM, sibling][:, None]
