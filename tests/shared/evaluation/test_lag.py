"""Policy `progress`: what an advance leaves, and a lag that grows: a burst, or who is too slow."""

import pytest
from support.followed_partition import ALL, TICK, Followed
from warren_core.evaluation import BY, UNKNOWN, Figure

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
    assert told == [took > BY.behind / 1000, False]
    found = next(tick for tick in range(200) if partition.tick(50, read=30) == "WARN")
    assert found * TICK <= max(425, 1.4 * took)


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
