"""Policy `progress`: silence and its like: commits of one offset, rare ones, open transactions."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support.followed_partition import ALL, FOUND, REPEATED, TICK, Followed, always_ok
from warren_core.evaluation import UNKNOWN

PACE_MS = 15_000


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


def test_who_commits_one_offset_again_does_not_rest() -> None:
    """It was met dead, read all within two minutes, and came to a record that it cannot read."""
    partition = Followed()
    partition.committed_at -= 59 * 60_000
    partition.silent_for(3)
    partition.healthy(2)
    stalls = [partition.tick(50, read=0) == "STALL" for _ in range(80)]
    assert any(stalls)


def test_commits_while_there_is_nothing_to_read_are_none_that_repeat() -> None:
    """A record takes 100 s after a quiet hour, of who is known to take 150 s, and then it dies."""
    partition = Followed().healthy(10)
    for _ in range(4):
        partition.silent_for(2.5)
        partition.healthy(5)
    began = len(partition.seen)
    for silent in (100, 600):
        for _ in range(360):
            partition.tick(read=0)
        for second in range(0, silent, TICK):
            partition.tick(1 if second == 0 else 0)
        if silent == 100:
            partition.tick(read=ALL)
            assert set(partition.seen[began:]) == {"OK"}
    changes = [now for now, then in pairwise(partition.seen[began:]) if now != then]
    assert (changes, partition.seen[-1]) == (["OK"], "STOP")


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


def test_a_batch_that_was_committed_while_nobody_looked_leaves_no_growing_lag() -> None:
    """It commits what it has worked on for two minutes. Nobody saw when, so that the lag has grown
    since, more than a commit ever left."""
    partition = Followed()
    partition.pace_ms = PACE_MS
    held = partition.committed
    for second in range(0, 2 * 3600, TICK):
        if second % 120 == 0:
            read, held = held - partition.committed, partition.end
        blind = second % 3600 in range(1900, 2030)
        if blind:
            partition.now += TICK * 1000
            partition.end += 100
            if second % 120 == 0:
                partition.committed += read
                partition.committed_at = partition.now
        else:
            partition.tick(100, read=read if second % 120 == 0 else None)
    assert always_ok(partition)


@pytest.mark.heavy
def test_who_hangs_among_checkpoints_that_failed_is_found() -> None:
    partition = Followed().healthy(60, every=180)
    for _ in range(6):
        partition.silent_for(3)
        partition.tick(0, read=ALL)
        partition.healthy(27, every=180)
    found = partition.silent(30)
    assert found is not None
    assert found <= 10 * 60


def at_a_transaction(partition: Followed, minutes: float) -> bool:
    """One is open for so long; whether that was told."""
    began = len(partition.seen)
    partition.last_stable = partition.committed
    partition.silent_for(minutes)
    told = set(partition.seen[began:]) != {"OK"}
    partition.last_stable = UNKNOWN
    partition.tick(read=ALL)
    return told


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
def test_transactions_of_some_minutes_are_told_of_once() -> None:
    """One that lasted for longer than nine is believed with the second one, up to 15 min."""
    for minutes, told in ((1, 0), (5, 1), (12, 2), (20, 4)):
        partition = Followed().healthy(10)
        alarms = []
        for _ in range(4):
            alarms.append(at_a_transaction(partition, minutes))
            partition.healthy(20)
        assert alarms == [True] * told + [False] * (4 - told), minutes


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


def test_who_has_read_up_to_a_transaction_has_its_own_time_once_that_is_over() -> None:
    partition = Followed().healthy(10)
    partition.last_stable = partition.committed
    partition.silent_for(1.4)
    partition.last_stable = partition.end
    assert partition.silent(10) == pytest.approx(FOUND, abs=2 * TICK)


def test_who_stays_before_aborted_records_and_an_open_transaction_is_excused() -> None:
    """librdkafka commits what it has delivered: not the aborted records and markers after that."""
    partition = Followed().healthy(10)
    partition.last_stable = partition.committed + 20  # at ten records a second
    assert partition.silent(1.4) is None
