"""A cause does not change its mind with each look."""

from __future__ import annotations

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


def test_who_reads_nothing_for_two_minutes_is_not_catching_up() -> None:
    """Rates of before the pause would say so, and when it will have caught up."""
    group, end, committed, read_at = Judge(Rules(policy="progress")), 10_000, 10_000, 0
    told: set[str] = set()
    resting: set[str] = set()
    for second in range(5, 3_600, 5):
        end += 50
        since = (second - 1_200) % 240
        if second < 1_200 or since >= 150:
            committed, read_at = min(committed + 120, end), second
        now = NOW + second * 1000
        seen = At(committed, NOW + read_at * 1000, log_end=end, commits=int(read_at == second))
        cause = group.judged(offset_event(now, {"orders": {0: seen}})).lag.cause
        if cause:
            (resting if second - read_at > 75 else told).add(cause.name)
    assert "catching_up" in told
    assert not resting & {"catching_up", "late", "too_slow"}


@pytest.mark.heavy
@pytest.mark.parametrize("turn", [60, 150, 240])
def test_who_reads_its_partitions_in_turn_is_too_slow_all_the_time(turn: int) -> None:
    """As clients do that have much of one partition at hand: of the other nothing is read."""
    rng, group = np.random.default_rng(1), Judge(Rules(policy="progress"))
    ends, committed, at = [10_000, 10_000], [10_000, 10_000], [NOW, NOW]
    told: list[str] = []
    for second in range(5, 3_000, 5):
        now, left, commits = NOW + second * 1000, 100, [0, 0]
        ends = [end + int(rng.poisson(25 if second < 480 else 150)) for end in ends]
        first = max(second - 480, 0) // turn % 2
        for each in (first, 1 - first):
            taken = min(left, ends[each] - committed[each])
            if taken:
                committed[each], at[each], commits[each] = committed[each] + taken, now, 1
            left -= taken
        seen = {n: At(committed[n], at[n], log_end=ends[n], commits=commits[n]) for n in (0, 1)}
        lag = group.judged(offset_event(now, {"orders": seen})).lag
        if second > 1_200 and lag.status == "WARN" and lag.cause:
            told.append(lag.cause.name)
            assert 10 < (lag.cause.evidence.consumed_per_s or 0) < 40, "it reads 20"
            assert lag.cause.evidence.produced_per_s == pytest.approx(60, rel=0.2)
    assert len(told) > 200
    assert set(told) == {"too_slow"}
