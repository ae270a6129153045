from __future__ import annotations

from typing import cast

from freshness.events import NOW
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.passes.log_starts import LogStarts
from warren_freshness.positions.partition_state import PartitionState
from warren_freshness.reading.record_reader import RecordReader

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


def test_what_the_events_know_as_well_is_forgotten() -> None:
    starts = starts_at(34)
    begin(starts, log_start=34)
    assert not starts.moved([PLACE])


def test_a_topic_that_was_created_anew_begins_anew() -> None:
    starts = starts_at(34)
    begin(starts, topic_id="b")
    assert starts.place(PLACE) == PLACE


def test_a_log_does_not_begin_after_its_end() -> None:
    """Where brokers have no topic ids."""
    starts = starts_at(34)
    begin(starts, log_end=20)
    assert starts.place(PLACE) == PLACE
