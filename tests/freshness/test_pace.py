from __future__ import annotations

import numpy as np
import pytest
from warren_freshness.log_position import UNKNOWN
from warren_freshness.positions.pace import Pace

NOBODY = pytest.approx(float("nan"), nan_ok=True)


def paced(*observations: tuple[float, list[int]]) -> Pace:
    """(second, offset of partition 0, 1, …)."""
    pace = Pace()
    for second, offsets in observations:
        pace.update(np.arange(len(offsets)), np.array(offsets), 1000 + round(second * 1000))
    return pace


def rates(pace: Pace, partitions: int = 1) -> list[float]:
    found: list[float] = pace.rates(np.arange(partitions)).tolist()
    return found


def test_two_observations_make_a_rate() -> None:
    assert rates(paced()) == [NOBODY]
    assert rates(paced((0, [10, 5])), 3) == [NOBODY] * 3
    assert rates(paced((0, [10, 5]), (10, [60, 5])), 3) == [5.0, 0.0, NOBODY]


def test_a_steady_rate_however_often_one_looks() -> None:
    for step in (0.3, 1, 5, 9, 10, 30, 200):
        pace = paced(*((n * step, [round(n * step * 20)]) for n in range(50)))
        assert rates(pace) == [pytest.approx(20, rel=0.02)]


def test_commits_in_lumps() -> None:
    pace = paced(*((second, [second // 15 * 150]) for second in range(0, 300, 5)))
    assert rates(pace) == [pytest.approx(10, rel=0.3)]


def test_a_leap_is_no_rate() -> None:
    leap = {second: 20 * second + (10**6 if second >= 100 else 0) for second in range(0, 140, 5)}
    pace = paced(*((second, [offset]) for second, offset in leap.items()))
    assert rates(pace) == [pytest.approx(20, rel=0.2)]


def test_a_group_that_stops_consumes_nothing_a_minute_later() -> None:
    pace = paced(*((second, [min(second, 100) * 10]) for second in range(0, 170, 5)))
    assert rates(pace) == [0.0]


def test_going_back_begins_anew() -> None:
    pace = paced((0, [500]), (10, [600]), (20, [0]))
    assert rates(pace) == [NOBODY]
    pace.update(np.array([0]), np.array([70]), 31_000)
    assert rates(pace) == [7.0]


def test_what_is_unknown_or_older_says_nothing() -> None:
    pace = paced((0, [0]), (10, [100]), (20, [UNKNOWN]), (5, [10_000]))
    assert rates(pace) == [10.0]
