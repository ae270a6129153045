"""Policy `progress`: what an advance leaves, and a lag that grows: a burst, or who is too slow."""

import numpy as np
import pytest
from support.followed_partition import ALL, TICK, Followed
from warren_core.evaluation import UNKNOWN
from warren_core.evaluation.rule import BY
from warren_core.evaluation.track import Figure

RATE = 100  # records per tick


def test_what_came_while_nobody_knew_the_log_end_is_no_burst() -> None:
    partition = Followed().healthy(30)
    before = partition.track.figures[Figure.PRODUCED, 0]
    for _ in range(60):
        partition.now, partition.end = partition.now + 5000, partition.end + 50
        partition.committed = partition.end
        partition.observe(1, log_end=UNKNOWN)
    partition.tick(50, read=ALL)
    assert partition.track.figures[Figure.PRODUCED, 0] == pytest.approx(before, rel=0.05)


@pytest.mark.heavy
@pytest.mark.parametrize(("took", "every"), [(120, 900), (300, 3600), (600, 3600)])
def test_bursts_are_no_trouble_and_hide_none(took: int, every: int) -> None:
    """Six times as much for minutes; it reads three times what usually comes. A long one is told
    once: nobody knows that it will end.
    """
    partition = Followed().healthy(30)
    told = []
    for _ in range(2):
        began = len(partition.seen)
        for second in range(0, every, TICK):
            partition.tick(300 if second < took else 50, read=200)
        told.append("WARN" in partition.seen[began:])
    assert told == [took > BY.first / 1000, False]
    found = next(tick for tick in range(100) if partition.tick(50, read=30) == "WARN")
    assert found * TICK <= 200


def too_slow(partition: Followed) -> int:
    """Seconds until it is told that it reads half of what is written."""
    return next(n for n in range(1, 100) if partition.tick(500, read=250) == "WARN") * TICK


def test_who_is_too_slow_for_what_is_usually_written_is_told_sooner_than_a_burst() -> None:
    assert too_slow(Followed().healthy(30, rate=100)) <= 45
    assert 60 < too_slow(Followed().healthy(8, rate=100)) <= 80
    assert 100 < too_slow(Followed().healthy(3, rate=100)) <= 130  # five minutes since it is known


def test_rebalances_without_end_do_not_hide_who_falls_behind() -> None:
    """Half a minute of each 50 s, none of them too long; it commits each second, and reads four
    fifths."""
    partition = Followed().healthy(60, rate=100)
    for second in range(0, 1800, TICK):
        stands = second % 50 < 30
        partition.track.figures[Figure.COMMIT_PAUSE] = 1000
        if partition.tick(500, read=None if stands else 1000) != "OK":
            break
    assert second <= 300


def test_who_has_read_half_of_what_it_was_behind_is_well_again() -> None:
    partition = Followed().healthy(60, rate=100)
    while partition.tick(500, read=250) == "OK":
        pass
    for _ in range(120):
        partition.tick(500, read=250)
    behind = partition.end - partition.committed
    while partition.tick(500, read=1000) != "OK":
        assert partition.end - partition.committed > behind / 4
    assert partition.end - partition.committed <= behind / 2


def processes(partition: Followed, minutes: float, latency: float, seed: int) -> Followed:
    """Commits at each tick what came so many seconds before, now more and now less."""
    rng = np.random.default_rng(seed)
    load = 0.0
    for _ in range(round(minutes * 60 / TICK)):
        load = 0.9 * load + rng.normal(0, 0.13)
        left = int(RATE / TICK * latency * np.exp(load))
        partition.tick(RATE, read=max(partition.end + RATE - partition.committed - left, 0))
    return partition


@pytest.mark.heavy
@pytest.mark.parametrize("latency", [3, 15])
@pytest.mark.parametrize("seed", range(2))
def test_who_leaves_what_processing_takes_is_not_behind(latency: float, seed: int) -> None:
    partition = processes(Followed(), 45, latency, seed)
    learnt = len(partition.seen)
    processes(partition, 60, latency, seed + 10)
    assert set(partition.seen[learnt:]) == {"OK"}


@pytest.mark.heavy
def test_who_reads_a_hundredth_too_little_is_told_once_it_is_far_behind() -> None:
    """So little that the averages of its lag hardly differ."""
    partition = Followed().healthy(60, rate=4)
    began = len(partition.seen)
    for tick in range(round(60 * 60 / TICK)):
        partition.tick(4 * TICK, read=4 * TICK - (tick % 5 == 0))
    told = partition.seen[began:].index("WARN") * TICK
    assert told <= 45 * 60
    assert set(partition.seen[began + told // TICK :]) == {"WARN"}
