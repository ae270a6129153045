"""Policy `progress`: who commits the same offset again although there is something to read."""

from __future__ import annotations

from itertools import pairwise

from support.followed_partition import ALL, FOUND, REPEATED, TICK, Followed


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
        for _ in range(720):
            partition.tick(read=0)
        for second in range(0, silent, TICK):
            partition.tick(1 if second == 0 else 0)
        if silent == 100:
            partition.tick(read=ALL)
            assert set(partition.seen[began:]) == {"OK"}
    changes = [now for now, then in pairwise(partition.seen[began:]) if now != then]
    assert (changes, partition.seen[-1]) == (["OK"], "STOP")
