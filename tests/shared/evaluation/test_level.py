"""Policy `progress`: a lateness that stays the same is usual, and a change from it is trouble."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from support.followed_partition import ALL, FOUND, TICK, Followed, always_ok

RATE = 500  # records per tick
HOUR = 3600 // TICK


class Late(Followed):
    """It reads what is so many seconds old."""

    def __init__(self, delay: float) -> None:
        super().__init__(behind=round(delay * RATE / TICK))
        self.delay = delay
        self.ends = [round(self.committed + age * RATE) for age in range(round(delay / TICK) + 1)]

    def reads(self, written: int = RATE, *, delay: float | None = None, most: int = ALL) -> str:
        """What is old enough now, or `most` records."""
        self.delay = self.delay if delay is None else delay
        self.ends.append(self.end + written)
        return self.tick(written, read=min(self.due, most))

    @property
    def due(self) -> int:
        old = self.ends[max(len(self.ends) - 1 - round(self.delay / TICK), 0)]
        return max(old - self.committed, 0)


def test_who_reads_whole_windows_rests_in_between() -> None:
    """A join reads what ten minutes wrote in one, and commits that offset until the next ones."""
    partition = Late(60)
    for tick in range(2 * HOUR):
        partition.delay = 60 + tick % (HOUR // 6) * TICK  # up to the last window's end
        due = min(partition.due, 12 * RATE)
        partition.ends.append(partition.end + RATE)
        partition.tick(RATE, read=due)
    assert set(partition.seen[HOUR // 2 :]) == {"OK"}


def told_after(partition: Followed, tick: Callable[[], str]) -> int:
    """Seconds until it is told."""
    began = len(partition.seen)
    assert partition.seen[-1] == "OK"
    for _ in range(200):
        if tick() != "OK":
            break
    return (len(partition.seen) - began) * TICK


@pytest.mark.parametrize("delay", [30, 90, 600])
def test_a_topic_of_delays_is_no_trouble_whatever_the_traffic(delay: int) -> None:
    """In records its lag is three times as much at noon as at night."""
    partition = Late(delay)
    for tick in range(HOUR):
        partition.reads(RATE * (1 + 2 * tick // HOUR))
    assert always_ok(partition)


def retried(delay: float) -> list[str]:
    """A record each 20 s for an hour, none for 5 min, then again for 20 min; it is read when it is
    as old as ever. What was said from the lull on.
    """
    partition = Late(delay)
    partition.ends = [0] * len(partition.ends)
    partition.committed = partition.end = 0
    for tick in range(HOUR + 1500 // TICK):
        lull = HOUR <= tick < HOUR + 300 // TICK
        partition.reads(int(not lull and tick % (20 // TICK) == 0))
    return partition.seen[HOUR:]


@pytest.mark.heavy
@pytest.mark.parametrize("delay", [60, 120, 200])
def test_after_a_lull_the_first_record_waits_as_long_as_ever(delay: int) -> None:
    assert set(retried(delay)) == {"OK"}


def test_who_is_always_twenty_seconds_behind_more_or_less_is_no_trouble() -> None:
    partition = Late(20)
    for tick in range(HOUR):
        partition.reads(delay=(15, 20, 25, 25, 20, 15, 20)[tick // 5 % 7])
    assert always_ok(partition)


@pytest.mark.parametrize("delay", [30, 600])
def test_who_is_late_and_dies_is_told_as_soon_as_others(delay: int) -> None:
    partition = Late(delay)
    for _ in range(360):
        partition.reads()
    assert told_after(partition, lambda: partition.tick(RATE)) <= FOUND + TICK


def crashed(minutes: int) -> Followed:
    """And it reads as fast as is written since, for ever."""
    partition = Followed().healthy(30, rate=100)
    partition.silent_for(minutes, rate=100)
    return partition


@pytest.mark.heavy
@pytest.mark.parametrize("minutes", [8, 20])
def test_a_new_level_is_told_once_and_known_after_an_hour(minutes: int) -> None:
    partition = crashed(minutes)
    said = [partition.tick(RATE, read=RATE) for _ in range(2 * HOUR)]
    assert list(dict.fromkeys(said)) == ["WARN", "OK"]
    assert 0.9 * HOUR < said.index("OK") <= 1.2 * HOUR
    assert told_after(partition, lambda: partition.tick(RATE, read=RATE // 2)) <= 440


def test_what_comes_back_each_hour_is_told_three_times_and_no_more() -> None:
    """It reads half for a quarter of each hour, as while a report is made."""
    partition = Late(0)
    for tick in range(9 * HOUR):
        partition.tick(RATE, read=RATE // 2 if tick % HOUR >= 3 * HOUR // 4 else 3 * RATE)
    assert list(pairwise(partition.seen)).count(("OK", "WARN")) == 3


def test_a_lower_level_is_known_soon() -> None:
    """Ten minutes late until somebody has mended it."""
    partition = Late(600)
    for _ in range(360):
        partition.reads()
    for _ in range(180):
        partition.reads(delay=0, most=3 * RATE)
    assert always_ok(partition)
    assert told_after(partition, lambda: partition.tick(RATE, read=RATE // 2)) <= 600
