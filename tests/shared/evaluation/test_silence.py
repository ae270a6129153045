"""Policy `progress`: silence and its like: commits of one offset, rare ones, open transactions."""

import numpy as np
import pytest
from support.followed_partition import ALL, FOUND, TICK, Followed
from warren_core.evaluation import UNKNOWN
from warren_core.evaluation.presence import Presence


def test_commits_of_the_same_offset_are_a_stall_and_no_commits_a_stop() -> None:
    looping, dead = Followed().healthy(10), Followed().healthy(10)
    for _ in range(20):
        looping.tick(50, read=0)
        dead.tick(50)
    assert (looping.seen[-1], dead.seen[-1]) == ("STALL", "STOP")
    assert looping.tick(50, read=10) == dead.tick(50, read=10) == "OK"


@pytest.mark.heavy
@pytest.mark.parametrize("every", [180, 600])
def test_a_checkpoint_that_fails_now_and_then_is_no_trouble(every: int) -> None:
    """Each tenth one is left out."""
    partition, told = Followed().healthy(10, every=every), []
    for _ in range(4):
        partition.healthy(9 * every / 60, every=every)
        began = len(partition.seen)
        partition.silent_for(every / 60)
        partition.healthy(every / 60, every=every)
        told.append("STOP" in partition.seen[began:])
    assert not any(told[2:]), told


def at_a_transaction(partition: Followed, minutes: float) -> bool:
    """One is open for so long; whether that was told."""
    began = len(partition.seen)
    partition.last_stable = partition.committed
    partition.silent_for(minutes)
    told = set(partition.seen[began:]) != {"OK"}
    partition.last_stable = UNKNOWN
    partition.tick(read=ALL)
    return told


def test_where_a_transaction_is_open_matters() -> None:
    processed = Followed().healthy(10)  # who commits the last offset that it has processed
    processed.last_stable = processed.committed + 1
    assert processed.silent(4.8) is None
    processed.last_stable = ALL  # it is over: it has its own time again
    assert processed.silent(0.5) is None
    stuck = Followed().healthy(10)  # at the last record, and no transaction is open
    stuck.end = stuck.last_stable = stuck.committed + 1
    assert stuck.silent(10, rate=0) is not None
    away = Followed().healthy(10)
    away.last_stable = away.committed + 300
    assert away.silent(30) == FOUND


@pytest.mark.heavy
def test_a_transaction_that_is_open_for_longer_than_usual_hangs() -> None:
    """More than five minutes, or as long as they usually are, and a quarter more."""
    for usual, alarm in ((0, 305), (5, 390)):
        partition = Followed().healthy(10)
        for _ in range(3):
            if usual:
                at_a_transaction(partition, usual)
            partition.healthy(5)
        partition.last_stable = partition.committed
        assert partition.silent(30) == pytest.approx(alarm, abs=4 * TICK), usual


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
    ticks = 0
    while ticks < minutes * 12 or partition.end - partition.committed < count // 3:
        written = int(random.poisson(rate * TICK))
        whole = (partition.end + written - partition.committed) // count * count
        partition.tick(written, read=whole or None)
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
    # A new version of who commits rarely.
    assert (partition.silent(10, rate=0) or ALL) <= FOUND + 60 + 2 * TICK


@pytest.mark.heavy
@pytest.mark.parametrize(("count", "within"), [(50, 60), (200, 90), (1000, 320)])
def test_who_hangs_in_work_is_found(count: int, within: int) -> None:
    """Also after lulls, which teach nothing."""
    partition = by_count(count)
    for _ in range(2):
        partition.silent_for(LULL / 60, rate=0)
        work(partition, count, 5)
    assert (partition.silent(20) or ALL) <= within


def test_where_nobody_knows_whether_members_are_there_it_is_told() -> None:
    assert by_count(200, presence=Presence.UNKNOWN).silent(10, rate=0) is not None


# Who commits by count: what is left in a lull is no silence while members are there.


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
