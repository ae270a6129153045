"""A cause does not change its mind with each look."""

from itertools import pairwise

import numpy as np
import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren_core.evaluation import Rules


@pytest.mark.heavy
@pytest.mark.parametrize("share", [0.9, 0.95, 0.97, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_the_cause_of_a_lag_stays_for_a_minute_at_least(share: float, seed: int) -> None:
    """Of who reads a little too slowly, or just as fast as is written after a crash: ten commits, a
    second apart, tell little of a pace. The first cause is of a silence, and unknown may come
    before another.
    """
    rng, group, told = np.random.default_rng(seed), Judge(Rules(policy="progress")), []
    end = committed = 10_000
    for second in range(5, 5_400, 5):
        written = int(rng.poisson(40))
        end += written
        if second < 2_400:
            committed = end
        elif second >= 3_000 or share < 1:
            committed = min(committed + int(rng.poisson(40 * share)), end)
        now = NOW + second * 1000
        seen = At(committed, now, log_end=end, commits=5)
        cause = group.judged(offset_event(now, {"orders": {0: seen}})).lag.cause
        if cause and (not told or told[-1][1] != cause.name):
            told.append((second, cause.name))
    since = [second for second, name in told if name != "unknown"]
    assert told
    assert all(then - first >= 60 for first, then in pairwise(since[1:])), told
