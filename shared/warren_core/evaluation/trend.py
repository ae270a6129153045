"""Trend: whether a lag that is told rises, stays or falls. Causes go by it, and no status does."""

import numpy as np

from warren_core.evaluation.rule import BY
from warren_core.evaluation.track import FALLS, RISES, Figure, Figures, Floats, Mark
from warren_core.evaluation.windows import Bools, Int64

SAME = 1.1
"""Rates that differ by less are the same, as far as a window can tell."""
SURE = 3  # times what chance does
RATES_OVER_S = BY.soon // 1000  # what is consumed is averaged over so much
WANDERS_S = (BY.slower - 1) ** 2 / (2 * (BY.slower + 1)) * BY.lag / 1000
"""Of production, 27: what the two averages of a lag differ by, squared, where it only wanders. Over
times a and b that is (b - a)^2 / 2 (b + a).
"""


def learn_trend(marks: Int64, figures: Figures, rise: Floats, starts: Bools) -> None:
    """A lag wanders: each trend begins with more than chance does, and lasts until the averages say
    the contrary. `rise`: of the average of the lag, [partition]; `starts`: it is told from now on.
    """
    was = marks[Mark.TREND]
    produced = np.maximum(figures[Figure.PRODUCED], 0)
    more = SAME * produced + SURE * np.sqrt(produced / RATES_OVER_S)
    falls = figures[Figure.CONSUMED] > np.where(was == FALLS, produced, more)
    by_chance = SURE * np.sqrt(produced * WANDERS_S)
    rises = starts | (rise > np.where(was == RISES, 0.0, by_chance))
    told = marks[Mark.GROWING] > 0
    marks[Mark.TREND] = np.select([told & falls, told & rises], [FALLS, RISES])
