"""Pauses of 5 to 9 min, which may be crashes: how often they come tells."""

from __future__ import annotations

import pytest
from support.followed_partition import FOUND, Followed


def told(minutes: float, apart: tuple[float, ...]) -> list[bool]:
    """Of pauses that long, the next after so many minutes each."""
    partition, stops = Followed().healthy(30), []
    for every in apart:
        stops.append(partition.pause(minutes))
        partition.healthy(every - minutes)
    return stops


@pytest.mark.parametrize("minutes", [6, 8])
def test_pauses_that_come_often_are_known_after_two(minutes: float) -> None:
    """Half an hour apart, and by no clock."""
    assert told(minutes, (20, 45, 30, 47, 22, 40)) == [True, True, *[False] * 4]


@pytest.mark.parametrize("minutes", [6, 8])
def test_short_crashes_that_come_rarely_are_told(minutes: float) -> None:
    assert all(told(minutes, (100, 190, 130, 230, 90)))


def test_longer_ones_are_told_however_often_they_come() -> None:
    assert all(told(11, (40, 90, 50, 80, 35, 70)))


def test_who_has_such_pauses_is_found_dead_after_them() -> None:
    partition = Followed().healthy(30)
    for _ in range(4):
        partition.pause(6)
        partition.healthy(20)
    found = partition.silent(20)
    assert found is not None
    assert FOUND < found <= 10 * 60
