from __future__ import annotations

from freshness.events import NOW
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.passes.log_end_samples import LogEndSamples
from warren_freshness.positions.partition_state import PartitionState


def state(partition: int, log_end: int, committed: int = 1, log_start: int = 0) -> PartitionState:
    place = LogPosition("orders", partition, committed)
    return PartitionState(place, NOW, UNKNOWN, log_start, log_end, NOW)


def end(partition: int, log_end: int) -> LogPosition:
    return LogPosition("orders", partition, log_end)


def found(before: int | None) -> Reading:
    return Reading("none", before=before)


def test_log_ends_are_sampled_once_however_many_groups_there_are() -> None:
    newest = LogEndSamples(10)
    assert list(newest.due([state(0, 9), state(0, 9, committed=4)])) == [end(0, 9)]


def test_a_log_end_is_due_again_when_it_moved() -> None:
    newest = LogEndSamples(10)
    newest.take({end(0, 9): found(77), end(1, 9): found(78)})
    assert list(newest.due([state(0, 9), state(1, 12)])) == [end(1, 12)]
    assert newest.times() == {end(0, 9): 77, end(1, 9): 78}


def test_no_record_before_the_end() -> None:
    newest = LogEndSamples(10)
    newest.take({end(0, 9): found(None)})
    assert newest.times() == {}
    assert list(newest.due([state(0, 9)])) == [end(0, 9)]


def test_samples_are_bounded_and_take_turns() -> None:
    newest = LogEndSamples(2)
    turns = []
    for log_end in range(10, 14):
        due = newest.due([state(partition, log_end) for partition in range(4)])
        turns.append(sorted(place.partition for place in due))
        newest.take({place: found(log_end) for place in due})
    assert turns == [[0, 1], [2, 3], [0, 1], [2, 3]]


def test_empty_logs_and_partitions_without_a_commit_are_not_sampled() -> None:
    newest = LogEndSamples(10)
    nothing = [state(0, 0), state(1, 5, log_start=5), state(2, UNKNOWN), state(3, 9, committed=-1)]
    assert newest.due(nothing) == {}


def test_partitions_that_are_gone_are_forgotten() -> None:
    newest = LogEndSamples(10)
    newest.take({end(0, 9): found(77)})
    newest.due([])
    assert newest.times() == {}


def test_none_wanted() -> None:
    assert LogEndSamples(0).due([state(0, 9)]) == {}
