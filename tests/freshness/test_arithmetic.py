from __future__ import annotations

import pytest
from freshness.events import NOW
from warren_freshness.figures import arithmetic
from warren_freshness.figures.arithmetic import EARLIEST_APPEND, LARGEST_SKEW, Age


@pytest.mark.parametrize(
    ("timestamp", "usable"),
    [
        (NOW, True),
        (NOW + LARGEST_SKEW, True),
        (NOW + LARGEST_SKEW + 1, False),
        (NOW * 1000, False),  # microseconds
        (EARLIEST_APPEND, True),
        (EARLIEST_APPEND - 1, False),
        (NOW // 1000, False),  # seconds
        (0, False),
        (-1, False),
    ],
)
def test_which_timestamps_can_be_append_times(timestamp: int, usable: bool) -> None:
    assert arithmetic.is_append_time(timestamp, NOW) is usable
    assert arithmetic.usable(timestamp, NOW) == (timestamp if usable else None)


def test_age() -> None:
    assert arithmetic.age_of(NOW - 7, NOW) == Age(7, 0)
    assert arithmetic.age_of(NOW, NOW) == Age(0, 0)
    assert arithmetic.age_of(NOW + 300, NOW) == Age(0, 300)


def test_lower_bound() -> None:
    assert arithmetic.at_least(NOW - 7, NOW) == 7
    assert arithmetic.at_least(NOW + 7, NOW) == 0
    assert arithmetic.at_least(None, NOW) is None


def test_commit_lag() -> None:
    assert arithmetic.commit_lag(NOW, NOW - 40) == 40
    assert arithmetic.commit_lag(NOW, NOW + 40) == 0
    assert arithmetic.commit_lag(-1, NOW) is None
    assert arithmetic.commit_lag(NOW, None) is None


def test_append_lag() -> None:
    assert arithmetic.append_lag(NOW, NOW - 40) == 40
    assert arithmetic.append_lag(NOW - 40, NOW) == 0
    assert arithmetic.append_lag(None, NOW) is None
    assert arithmetic.append_lag(NOW, None) is None


def test_time_to_loss() -> None:
    assert arithmetic.time_to_loss(NOW - 40, 100, NOW) == 60
    assert arithmetic.time_to_loss(NOW - 400, 100, NOW) == 0
    assert arithmetic.time_to_loss(NOW - 400, None, NOW) is None
