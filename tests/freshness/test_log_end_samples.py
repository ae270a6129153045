"""."""

from typing import cast

from freshness.events import NOW
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.passes.log_end_samples import LogEndSamples, LogStarts
from warren_freshness.positions.partition_state import PartitionState
from warren_freshness.reading.record_reader import RecordReader
from warren_wire.list_offsets import NOT_FOUND, FoundOffset


def state(partition: int, log_end: int, committed: int = 1, log_start: int = 0) -> PartitionState:
    place = LogPosition("orders", partition, committed)
    return PartitionState(place, NOW, UNKNOWN, log_start, log_end, NOW)


def end(partition: int, log_end: int) -> LogPosition:
    return LogPosition("orders", partition, log_end)


def found(before: int | None) -> Reading:
    return Reading("none", before=before)


def test_a_log_end_is_due_again_when_it_moved() -> None:
    newest = LogEndSamples(10)
    newest.take({end(0, 9): found(77), end(1, 9): found(78)})
    assert list(newest.due([state(0, 9), state(1, 12)])) == [end(1, 12)]
    assert newest.newest() == {end(0, 9): 77, end(1, 9): 78}


def test_no_record_before_the_end() -> None:
    newest = LogEndSamples(10)
    newest.take({end(0, 9): found(None)})
    assert newest.newest() == {}
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


def test_what_gives_nothing_does_not_keep_others_waiting() -> None:
    newest = LogEndSamples(2)
    states = [state(partition, 9) for partition in range(4)]
    for _ in range(2):
        due = newest.due(states)
        newest.take({p: found(77 if p.partition > 1 else None) for p in due})
    assert newest.newest() == {end(2, 9): 77, end(3, 9): 77}


def test_the_largest_timestamp_may_be_that_of_a_record_after_the_end_that_was_seen() -> None:
    newest = LogEndSamples(10)
    positions = [end(0, 9), end(1, 9), end(2, 9), end(3, 9)]
    newest.take_largest(
        positions,
        {
            ("orders", 0): FoundOffset(77, 8),
            ("orders", 1): FoundOffset(78, 9),
            ("orders", 2): FoundOffset(NOT_FOUND, NOT_FOUND),
        },
    )
    assert newest.newest() == {end(0, 9): 77}
    assert newest.largest() == {end(1, 9): 78}


PLACE = LogPosition("orders", 0, 5)


def starts_at(start: int) -> LogStarts:
    starts = LogStarts(cast("RecordReader", None))  # nobody is asked here
    begin(starts)
    starts.learn({PLACE: Reading("record", first=NOW, log_start=start)})
    return starts


def begin(starts: LogStarts, log_start: int = 0, log_end: int = 99, topic_id: str = "a") -> None:
    state = PartitionState(PLACE, NOW, UNKNOWN, log_start, log_end, NOW)
    starts.begin({PLACE: state}, {"orders": topic_id})


def test_a_deleted_position_is_where_the_log_begins() -> None:
    starts = starts_at(34)
    begin(starts)
    assert starts.place(PLACE) == PLACE._replace(offset=34)
    assert starts.place(PLACE._replace(offset=50)).offset == 50
    assert starts.place(PLACE._replace(partition=1)).offset == 5
    others = [PLACE._replace(offset=50), PLACE._replace(partition=1)]
    assert starts.moved([PLACE, *others]) == {PLACE: PLACE._replace(offset=34)}


def test_a_topic_that_was_created_anew_begins_anew() -> None:
    starts = starts_at(34)
    begin(starts, topic_id="b")
    assert starts.place(PLACE) == PLACE
