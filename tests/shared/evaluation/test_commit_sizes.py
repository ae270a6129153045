"""Who commits by count: what is left in a lull is no silence while members are there."""

import numpy as np
import pytest
from support.followed_partition import ALL, FOUND, TICK, Followed
from warren_core.evaluation.presence import Presence

LULL = 1800


def by_count(count: int, minutes: float = 20, rate: int = 10, presence: int = 2) -> Followed:
    """At work for some minutes, then less than a count is left."""
    partition = Followed()
    partition.presence = Presence(presence)
    work(partition, count, minutes, rate)
    return partition


def work(partition: Followed, count: int, minutes: float, rate: int = 10) -> None:
    """Ends amid a count."""
    random = np.random.default_rng(count)
    partition.committed += 0
    ticks = 0
    while ticks < minutes * 12 or partition.end - partition.committed < count // 3:
        written = int(random.poisson(rate * TICK))
        whole = (partition.end + written - partition.committed) // count * count
        partition.tick(written, read=whole if whole else None)
        ticks += 1


@pytest.mark.heavy
@pytest.mark.parametrize("count", [50, 200, 1000])
def test_a_lull_of_who_commits_by_count_is_no_silence(count: int) -> None:
    partition = by_count(count)
    for _ in range(3):
        assert partition.silent(LULL / 60, rate=0) is None
        work(partition, count, 5)
    assert "STOP" not in partition.seen


@pytest.mark.parametrize("count", [50, 1000])
def test_who_goes_amid_a_lull_is_found(count: int) -> None:
    partition = by_count(count)
    assert partition.silent(20, rate=0) is None
    partition.presence = Presence.NOBODY
    found = partition.silent(10, rate=0)
    assert found is not None
    assert found <= FOUND + 60 + 2 * TICK  # a new version of who commits rarely


@pytest.mark.heavy
@pytest.mark.parametrize(("count", "within"), [(50, 60), (200, 90), (1000, 320)])
def test_who_hangs_in_work_is_found(count: int, within: int) -> None:
    """Also after lulls, which teach nothing."""
    partition = by_count(count)
    for _ in range(2):
        partition.silent_for(LULL / 60, rate=0)
        work(partition, count, 5)
    found = partition.silent(20)
    assert found is not None
    assert found <= within


def test_where_nobody_knows_whether_members_are_there_it_is_told() -> None:
    partition = by_count(200, presence=Presence.UNKNOWN)
    assert partition.silent(10, rate=0) is not None


def test_a_count_over_several_partitions_leaves_no_more_than_its_commits_are_of() -> None:
    """Each commit has about a quarter of 200."""
    partition, random = Followed(), np.random.default_rng(1)
    partition.presence = Presence.THERE
    for _ in range(120):
        partition.tick(int(random.poisson(50)), read=ALL)
    partition.tick(35)
    assert partition.silent(10, rate=0) is None


def test_who_commits_by_time_has_read_what_it_leaves() -> None:
    """After bursts its commits are of few records and of many: what is left is not read."""
    partition = Followed()
    partition.presence = Presence.THERE
    for second in range(0, 1200, TICK):
        partition.tick(500 if second % 300 < 60 else 5, read=ALL)
    partition.tick(100)
    assert partition.silent(10, rate=0) == FOUND - TICK
