"""Policy `progress`: silence and its like: commits of one offset, rare ones, open transactions."""

import pytest
from support.followed_partition import ALL, FOUND, REPEATED, TICK, Followed
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


def test_commits_of_the_same_offset_are_told_sooner_than_silence() -> None:
    """Also of who rebalances now and then for longer, without commits."""
    assert until_told(Followed().healthy(10)) == REPEATED
    partition = Followed().healthy(10)
    for _ in range(3):
        partition.silent_for(0.5)
        partition.healthy(10)
    assert until_told(partition) == REPEATED
    silent = partition.healthy(1).silent(10)
    assert silent is not None
    assert silent > FOUND


def test_who_is_stuck_at_its_first_record_is_told_within_about_a_minute() -> None:
    """As after a first deployment."""
    assert until_told(Followed()) <= 75


def test_one_commit_of_the_same_offset_is_none_that_repeats() -> None:
    """As after a rebalance."""
    partition = Followed().healthy(10)
    partition.tick(50, read=0)
    assert partition.silent(10) == FOUND - TICK


def test_who_commits_on_while_it_works_is_told_of_once() -> None:
    """Its commits go on for 25 s of work, twenty times an hour: no trouble, and learnt."""
    partition = Followed().healthy(10)
    told = []
    for _ in range(10):
        partition.healthy(3)
        began = len(partition.seen)
        for _ in range(5):
            partition.tick(50, read=0)
        told.append("STALL" in partition.seen[began:])
    assert told == [True] + [False] * 9
    partition.healthy(3)
    assert until_told(partition) == 45  # a half more than ever


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


@pytest.mark.heavy
def test_a_transaction_that_is_open_for_longer_than_usual_hangs() -> None:
    """A minute and a half at least, and else as long as they usually are, and a third more."""
    for usual, alarm in ((0, 90), (0.5, 90), (3, 280), (5, 440)):
        partition = Followed().healthy(10)
        for _ in range(3):
            if usual:
                at_a_transaction(partition, usual)
            partition.healthy(5)
        partition.last_stable = partition.committed
        found = partition.silent(30)
        assert found == pytest.approx(alarm, abs=3 * TICK), usual


def test_where_a_transaction_is_open_matters() -> None:
    processed = Followed().healthy(10)  # who commits the last offset that it has processed
    processed.last_stable = processed.committed + 1
    assert processed.silent(1.4) is None
    stuck = Followed().healthy(10)  # at the last record, and no transaction is open
    stuck.end = stuck.last_stable = stuck.committed + 1
    assert stuck.silent(10, rate=0) is not None
    away = Followed().healthy(10)
    away.last_stable = away.committed + 100
    assert away.silent(30) == FOUND


@pytest.mark.heavy
def test_transactions_that_hang_excuse_no_silence() -> None:
    """What is waited for at transactions is learnt apart."""
    partition = Followed().healthy(60)
    for _ in range(3):
        at_a_transaction(partition, 5)
        partition.healthy(20)
    assert partition.silent(30) == FOUND


def test_commits_of_the_same_offset_at_an_open_transaction_are_none_that_repeat() -> None:
    partition = Followed().healthy(10)
    partition.last_stable = partition.committed
    for _ in range(16):
        assert partition.tick(50, read=0) == "OK"
    partition.last_stable = UNKNOWN
    partition.tick(read=ALL)
    assert until_told(partition.healthy(10)) == REPEATED
