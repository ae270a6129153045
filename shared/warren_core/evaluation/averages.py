"""Averages over time: an observation weighs t / (t + span), t being the time since the last one."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.track import Figure, Figures, Floats
from warren_core.evaluation.windows import Bools, Int64


def smooth(
    figures: Figures,
    figure: Figure,
    value: Floats | Int64,
    known: Bools,
    elapsed: Int64,
    span: int | Int64,
) -> None:
    """Takes in `value` where it is `known`; `elapsed` and `span` in ms."""
    average = figures[figure]
    share = np.where(average < 0, 1.0, elapsed / np.maximum(elapsed + span, 1))
    figures[figure] = np.where(known, average + (value - average) * share, average)


def begin_lag_anew(figures: Figures, lag: Int64, which: Bools) -> None:
    """Both averages of the lag are this one."""
    if which.any():
        averages = [Figure.LAG_QUICK, Figure.LAG_SLOW]
        figures[averages] = np.where(which, lag, figures[averages])
