from __future__ import annotations

from freshness.events import CLUSTER, GROUP, NOW
from warren.contracts import CommitConvention
from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.passes.known_commits import KnownCommits
from warren_freshness.positions.group_positions import GroupSnapshot
from warren_freshness.positions.partition_state import PartitionState

RECORD = Reading("record", first=NOW - 90_000)


def at(committed: int, log_end: int, *, partition: int = 0, seen_at: int = NOW) -> PartitionState:
    place = LogPosition("orders", partition, committed)
    since = NOW - 60_000 if log_end > committed else -1
    return PartitionState(place, NOW - 60_000, since, 0, log_end, seen_at)


def group(*states: PartitionState) -> GroupSnapshot:
    return GroupSnapshot(CLUSTER, GROUP, NOW, {"orders": list(states)})


def learnt(known: KnownCommits, *states: PartitionState, reading: Reading = RECORD) -> str | None:
    readings = {place: reading for state in states if (place := state.to_read) is not None}
    known.learn(group(*states), readings)
    convention: CommitConvention | None = known.of(group())["orders"].convention
    return convention


def test_rests_at_two_ends() -> None:
    known = KnownCommits()
    assert learnt(known, at(9, 10)) is None
    assert learnt(known, at(9, 10)) is None, "the same one"
    assert learnt(known, at(19, 20)) == "last_processed"
    assert [state.steps for state in known.applied_to(group(at(19, 20))).states] == [1]
    assert learnt(known, at(20, 20)) == "next"
    assert [state.steps for state in known.applied_to(group(at(19, 20))).states] == [0]


def test_two_partitions() -> None:
    assert learnt(KnownCommits(), at(9, 10), at(4, 5, partition=1)) == "last_processed"


def test_what_is_no_rest() -> None:
    known = KnownCommits()
    moving = at(9, 10, seen_at=NOW - 60_000), at(4, 5, partition=1, seen_at=NOW - 60_000)
    assert learnt(known, *moving) is None
    assert learnt(known, at(8, 10), at(3, 5, partition=1)) is None
    marker = Reading("none", end=10)
    assert learnt(known, at(9, 10), at(4, 5, partition=1), reading=marker) is None


def test_an_end_that_was_seen_before_the_commit_proves_nothing() -> None:
    known = KnownCommits()
    assert learnt(known, at(10, 10, seen_at=NOW - 1)) is None
    assert learnt(known, at(10, 10)) == "next"


def test_groups_that_go() -> None:
    known = KnownCommits()
    learnt(known, at(10, 10))
    known.forget([(CLUSTER, GROUP)])
    assert known.of(group()) == {}
    learnt(known, at(10, 10))
    known.release([0])
    assert known.of(group()) == {}
