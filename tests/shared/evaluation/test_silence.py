"""Policy `progress`: silence and its like: commits of one offset, rare ones, open transactions."""

import pytest
from support.followed_partition import ALL, FOUND, TICK, Followed
from warren_core.evaluation import UNKNOWN


def until_told(partition: Followed) -> int:
    """Seconds for which it commits the same offset."""
    return next(n for n in range(1, 200) if partition.tick(50, read=0) != "OK") * TICK


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
    assert processed.silent(1.4) is None
    stuck = Followed().healthy(10)  # at the last record, and no transaction is open
    stuck.end = stuck.last_stable = stuck.committed + 1
    assert stuck.silent(10, rate=0) is not None
    away = Followed().healthy(10)
    away.last_stable = away.committed + 300
    assert away.silent(30) == FOUND


@pytest.mark.heavy
def test_a_transaction_that_is_open_for_longer_than_usual_hangs() -> None:
    """More than three minutes, or as long as they usually are, and a quarter more."""
    for usual, alarm in ((0, 205), (3, 245), (5, 390)):
        partition = Followed().healthy(10)
        for _ in range(3):
            if usual:
                at_a_transaction(partition, usual)
            partition.healthy(5)
        partition.last_stable = partition.committed
        found = partition.silent(30)
        assert found == pytest.approx(alarm, abs=4 * TICK), usual
