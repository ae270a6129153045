"""Commit sizes: who commits by count leaves less than that until more comes."""

import numpy as np

from warren_core.evaluation.presence import Presence
from warren_core.evaluation.rule import Rule
from warren_core.evaluation.track import Mark, Sighting
from warren_core.evaluation.windows import Bools, Int64

BY_COUNT = Rule(
    "by count",
    learns="the fewest and the most records of a commit of late",
    speaks="where the most are no more than three times the fewest, which are ten, and members are "
    "there, fewer than the most are nothing to read",
    sentence="Who commits by count leaves less than that until more comes.",
)
ALIKE = 3  # times the fewest; records that several partitions share vary so far
SLOWLY = 32  # commits of another size are forgotten after so many
ENOUGH = 3  # waits that were seen
FEW = 10  # records: who commits fewer does not count them


def learn_sizes(marks: Int64, sighting: Sighting, advanced: Bools) -> None:
    """Take in how many records each commit was of."""
    came = advanced & (sighting.commits > 0) & (marks[Mark.COMMITTED] >= 0)
    if not came.any():
        return
    size = (sighting.committed - marks[Mark.COMMITTED]) // np.maximum(sighting.commits, 1)
    least, most = marks[Mark.LEAST_COMMITTED], marks[Mark.MOST_COMMITTED]
    fewer = np.minimum(size, least + (size - least) // SLOWLY)
    more = np.maximum(size, most - (most - size) // SLOWLY)
    marks[Mark.LEAST_COMMITTED] = np.where(came, np.where(least < 0, size, fewer), least)
    marks[Mark.MOST_COMMITTED] = np.where(came, np.where(most < 0, size, more), most)


def caught_up_lag(marks: Int64, presence: int | Int64, allowed_lag: int | Int64) -> Int64:
    """[partition] the largest lag of a consumer that has read everything it reads at once."""
    least, most = marks[[Mark.LEAST_COMMITTED, Mark.MOST_COMMITTED]]
    by_count = (most <= ALIKE * least) & (least >= FEW) & (marks[Mark.WAITS] >= ENOUGH)
    by_count &= BY_COUNT.on
    by_count &= np.asarray(presence) >= Presence.REBALANCING
    lag: Int64 = np.maximum(np.where(by_count, most - 1, 0), allowed_lag)
    return lag
