"""Busy hours: what is late at the same time each day is usual then, and a fault amid it is not."""

import functools
from collections.abc import Callable

import numpy as np
import pytest
from support.followed_partition import START
from warren_core.evaluation import Sighting, Track, see
from warren_core.evaluation.progress import judge

LOOK, HOUR, DAY = 30, 3600, 86_400
RATE = 100
Load = Callable[[int], float]


def evening(second: int, day: int | None = None) -> float:
    """How much of an evening it is, on that day or on each."""
    hour = second % DAY / HOUR
    is_day = day is None or second // DAY == day
    return is_day * (min(max((hour - 18) * 6, 0), 1) - min(max((hour - 21) * 6, 0), 1))


def nightly_peak(second: int) -> float:
    """A tenth more than it can read, for three hours."""
    return 1 + 1.2 * evening(second)


def late_in_the_evening(second: int) -> float:
    """It takes two minutes for what else takes seconds."""
    return 120 * evening(second)


def late_at_other_times(second: int) -> float:
    day, hour = second // DAY, second % DAY / HOUR
    return 120 * (0 <= hour - (2, 17, 9, 1, 13)[day] < 2)


def later_and_later(second: int) -> float:
    """On the fifth evening it falls back by a tenth of each second."""
    more = max(second - 4 * DAY - 18.5 * HOUR, 0) / 10
    return late_in_the_evening(second) + (min(more, 300) if second < 4 * DAY + 21 * HOUR else 0)


def dies(second: int) -> float:
    """Amid the fifth evening, for ten minutes."""
    at = 4 * DAY + 19 * HOUR
    return late_in_the_evening(second) + (second - at if 0 <= second - at < 600 else 0)


LOADS = (nightly_peak,)
DELAYS = (late_in_the_evening, late_at_other_times, later_and_later, dies)


@functools.cache
def told() -> dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """[look] of five days, by life."""
    lives = [*LOADS, *DELAYS]
    steps = 5 * DAY // LOOK
    seconds = np.arange(steps) * LOOK
    bad = np.zeros((steps, len(lives)), np.bool_)
    track, rows = Track.empty(len(lives)), np.arange(len(lives))
    rates = np.array([[RATE * (load(s) if load in LOADS else 1) for load in lives]
                      for s in seconds])  # fmt: skip
    ends = 1_000_000 + (rates * LOOK).cumsum(axis=0).astype(np.int64)
    committed = ends[0].copy()
    for step in range(steps):
        before = committed.copy()
        for number, life in enumerate(lives):
            if life in LOADS:
                most = committed[number] + 2 * RATE * LOOK
                committed[number] = min(most, ends[step, number])
            else:
                due = ends[max(step - round(life(int(seconds[step])) / LOOK), 0), number]
                committed[number] = max(committed[number], due)
        now = START + step * LOOK * 1000
        came = (committed > before).astype(np.int64)
        at = np.full(len(lives), now)
        see(track, rows, Sighting(now, committed.copy(), at, came, ends[step]))
        bad[step] = judge(track, now, 0) > 1
    return {life.__name__: bad[:, number] for number, life in enumerate(lives)}


def evenings(life: str) -> list[bool]:
    days = told()[life].reshape(5, -1)
    return [bool(day.any()) for day in days]


@pytest.mark.heavy
@pytest.mark.parametrize("life", ["nightly_peak", "late_in_the_evening"])
def test_lateness_of_each_evening_is_known_after_three(life: str) -> None:
    assert evenings(life) == [True, True, True, False, False]


@pytest.mark.heavy
def test_lateness_at_any_time_excuses_none() -> None:
    assert evenings("late_at_other_times") == [True] * 5


@pytest.mark.heavy
def test_who_is_later_than_usual_in_its_busy_hours_is_told() -> None:
    since = (4 * DAY + int(18.5 * HOUR)) // LOOK
    assert not told()["later_and_later"][3 * DAY // LOOK : since].any()
    found = int(told()["later_and_later"][since:].argmax()) * LOOK
    assert 0 < found <= 15 * 60


@pytest.mark.heavy
def test_who_dies_amid_them_is_told_as_soon_as_at_any_time() -> None:
    since = (4 * DAY + 19 * HOUR) // LOOK
    assert not told()["dies"][3 * DAY // LOOK : since].any()
    assert told()["dies"][since : since + 5].any()
