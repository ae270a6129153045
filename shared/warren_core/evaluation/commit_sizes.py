"""Commit sizes: who commits by count leaves less than that until more comes."""

import numpy as np

from warren_core.evaluation.presence import Presence, with_room
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import Mark, Sighting, span_ms
from warren_core.evaluation.windows import Bools, Int64

BY_COUNT = Rule(
    "by count",
    learns="the fewest and the most records of a commit of late",
    speaks="where the most are no more than three times the fewest, and fewer are left, a wait "
    "counts no longer than usual while members are there",
    sentence="Who commits by count leaves less than that until more comes.",
)
ALIKE = 3  # times the fewest; records that several partitions share vary so far
SLOWLY = 32  # commits of another size are forgotten after so many


def learn_sizes(marks: Int64, sighting: Sighting, advanced: Bools) -> None:
    """Take in how many records each commit was of."""
    came = advanced & (sighting.commits > 0) & (marks[Mark.COMMITTED] >= 0)
    if not (BY_COUNT.on and came.any()):
        return
    size = (sighting.committed - marks[Mark.COMMITTED]) // np.maximum(sighting.commits, 1)
    least, most = marks[Mark.LEAST_COMMITTED], marks[Mark.MOST_COMMITTED]
    fewer = np.minimum(size, least + (size - least) // SLOWLY)
    more = np.maximum(size, most - (most - size) // SLOWLY)
    marks[Mark.LEAST_COMMITTED] = np.where(came, np.where(least < 0, size, fewer), least)
    marks[Mark.MOST_COMMITTED] = np.where(came, np.where(most < 0, size, more), most)


def learn_part(
    marks: Int64, sighting: Sighting, lag: Int64, stands: Bools, patience: Int64
) -> Int64 | int:
    """[partition] how much of this wait does not count, for less is left than one commit is of: it
    is as long as usual at most, and half of the room is left for when there is enough. Noted.
    """
    least, most = marks[Mark.LEAST_COMMITTED], marks[Mark.MOST_COMMITTED]
    part = stands & (lag < most) & (most <= ALIKE * least) & (marks[Mark.WAITS] >= BY.rests)
    part &= (np.asarray(sighting.presence) >= Presence.REBALANCING) & BY_COUNT.on
    part &= marks[Mark.REPEATS] < BY.repeated
    if not part.any() and not marks[Mark.PART].any():  # as mostly
        return 0
    waited = span_ms(sighting.at, marks[Mark.WAITING_SINCE])
    # What new members have beside their habit is no reason to take a lull for a pause of theirs.
    habit = np.maximum(with_room(marks[Mark.PAUSE]), BY.least_wait)
    longest = (marks[Mark.PAUSE] + np.minimum(patience, habit)) // 2
    excused: Int64 = np.where(part, np.maximum(waited - longest, 0), 0)
    marks[Mark.PART] = np.where(stands, marks[Mark.PART] + excused, 0)
    return excused
