import pytest
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs
from support.manual_clock import ManualClock
from support.record_batches import (
    CODECS,
    batch,
    interleaved_transactions,
    marker,
)
from support.socket_bytes import received_bytes
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading, RecordTimes
from warren_freshness.reading.record_search import (
    FIRST_STRIDE,
    LARGEST_STRIDE,
    MOST_CORRECTIONS,
    MOST_EMPTY_ANSWERS,
    ONE_BATCH,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Fetched,
    RecordSearch,
    neighbours,
)

PLACE = LogPosition("orders", 0, 5)


def fetched(records: bytes, end: int, stable_end: int | None = None) -> Fetched:
    return Fetched(records, end, end if stable_end is None else stable_end, [])


def test_a_record_that_comes_with_a_later_response() -> None:
    search = RecordSearch(PLACE, 3)
    search.take(fetched(batch({3: 1003, 4: 1004}), end=9))
    assert (search.reading, search.fetch_offset) == (None, 5)
    search.take(fetched(batch({7: 1007}), end=9))
    assert search.reading == Reading("record", first=1007, before=1004)


def damaged() -> bytes:
    content = batch({5: 1005}, codec="zstd")
    return content[:61] + bytes(len(content) - 61)


@pytest.mark.parametrize(
    ("search", "answers", "reading"),
    [
        pytest.param(
            RecordSearch(PLACE, 4),
            [fetched(batch({4: 1004}) + marker(5, 7, commit=True), end=6)],
            Reading("none", before=1004, end=6),
            id="nothing but control records up to the end",
        ),
        pytest.param(
            RecordSearch.planned(PLACE, 2, expected=None),
            [fetched(batch({5: 1005}), end=9), fetched(b"", end=9)],
            Reading("record", first=1005),
            id="the record before is not worth an answer that does not come",
        ),
        pytest.param(
            RecordSearch(PLACE, 5),
            [fetched(damaged(), end=6)],
            Reading("corrupt"),
            id="damaged bytes",
        ),
        pytest.param(
            RecordSearch(PLACE, 3, only_before=True),
            [fetched(batch({3: 1003, 4: 1004}), end=9, stable_end=6)],
            Reading("none", before=1004, end=9),
            id="only the record before",
        ),
    ],
)
def test_what_answers_say(search: RecordSearch, answers: list[Fetched], reading: Reading) -> None:
    for answer in answers:
        search.take(answer)
    assert search.reading == reading


def test_records_of_an_open_transaction_are_undecided() -> None:
    search = RecordSearch(PLACE, 5)
    search.take(fetched(b"", end=8, stable_end=5))
    assert (search.reading, search.isolation) == (None, READ_UNCOMMITTED)
    search.take(fetched(batch({5: 1005, 6: 1006}, producer_id=7, transactional=True), end=8))
    assert search.reading == Reading("none", end=8, undecided_at=1005, stable_end=5)


def test_a_position_beyond_the_last_stable_offset() -> None:
    search = RecordSearch(PLACE, 5)
    search.take(fetched(b"", end=8, stable_end=2))
    assert (search.isolation, search.fetch_offset) == (READ_UNCOMMITTED, 5)


def test_where_a_batch_does_not_fit_it_is_asked_for_alone() -> None:
    search = RecordSearch.planned(PLACE, 0, expected=100)
    assert (search.fetch_offset, search.leads) == (0, False)
    assert ONE_BATCH < search.size < 1000
    search.take(fetched(b"", end=9))
    assert (search.fetch_offset, search.leads, search.size) == (5, True, ONE_BATCH)
    for _ in range(MOST_EMPTY_ANSWERS):
        search.take(fetched(b"", end=9))
    assert search.reading == Reading("unread")


def test_large_and_unknown_batches_are_asked_for_one_by_one() -> None:
    search = RecordSearch.planned(PLACE, 0, expected=None)
    assert (search.fetch_offset, search.leads, search.size) == (5, True, ONE_BATCH)


def test_the_record_before_is_looked_for_where_batches_turn_out_to_be_small() -> None:
    search = RecordSearch.planned(PLACE, 2, expected=None)
    search.take(fetched(batch({5: 1005}), end=9))
    assert (search.reading, search.fetch_offset, search.leads) == (None, 2, False)
    search.take(fetched(batch({3: 1003, 4: 1004}) + batch({5: 1005}), end=9))
    assert search.reading == Reading("record", first=1005, before=1004)


def test_what_was_fetched_for_another_position_may_hold_this_ones_record() -> None:
    search = RecordSearch.planned(PLACE, 2, expected=None)
    search.share(RecordTimes(1005, 1004))
    assert search.reading == Reading("record", first=1005, before=1004)


def test_strides_grow_where_there_is_no_record() -> None:
    search = RecordSearch.planned(PLACE, 0, expected=None)
    sizes = []
    for offset in range(5, 12):
        search.take(fetched(marker(offset, 7, commit=True), end=99))
        sizes.append(search.size)
    assert sizes[:3] == [FIRST_STRIDE, 8 * FIRST_STRIDE, LARGEST_STRIDE]
    assert max(sizes) == LARGEST_STRIDE


def test_progress_forgives_empty_answers() -> None:
    search = RecordSearch(PLACE, 5)
    for offset in range(5, 5 + 2 * MOST_EMPTY_ANSWERS):
        search.take(fetched(b"", end=99))
        search.take(fetched(marker(offset, 7, commit=True), end=99))
    assert search.reading is None


def test_a_deleted_position_is_read_where_the_log_begins() -> None:
    search = RecordSearch(PLACE, 0)
    search.correct(log_start=20)
    assert (search.fetch_offset, search.offset) == (20, 20)
    search.take(fetched(batch({20: 1020}), end=21))
    assert search.reading == Reading("record", first=1020, log_start=20)


def test_only_what_is_before_the_position_was_deleted() -> None:
    search = RecordSearch(PLACE, 0)
    search.correct(log_start=4)
    assert search.fetch_offset == 4
    search.take(fetched(batch({4: 1004, 5: 1005}), end=6))
    assert search.reading == Reading("record", first=1005, before=1004)


def test_a_position_beyond_the_end_of_the_log() -> None:
    search = RecordSearch(PLACE, 5)
    search.correct(log_start=2)
    assert search.reading == Reading("beyond_end")


def test_a_log_that_runs_away_is_given_up() -> None:
    search = RecordSearch(PLACE, 5)
    for turn in range(MOST_CORRECTIONS + 1):
        search.correct(log_start=10 + turn)
    assert search.reading is not None
    assert search.reading.outcome == "unread"


def test_an_unfinished_search_says_where_it_goes_on() -> None:
    search = RecordSearch(PLACE, 5)
    search.take(fetched(marker(5, 7, commit=True) + marker(6, 7, commit=True), end=99))
    assert search.finish() == Reading("unread", resume_at=7)


def test_a_search_that_was_never_begun_starts_again() -> None:
    assert RecordSearch(PLACE, 2).finish() == Reading("unread", resume_at=UNKNOWN)


def test_partitions_of_responses_from_version_4_to_11() -> None:
    aborted = [(7, 3)]
    expected = Fetched(b"x", 9, 8, aborted)
    assert Fetched.from_response((0, 0, 9, 8, aborted, b"x")) == expected
    assert Fetched.from_response((0, 0, 9, 8, 2, aborted, b"x")) == expected
    assert Fetched.from_response((0, 0, 9, 8, 2, aborted, -1, b"x")) == expected
    assert Fetched.from_response((0, 0, 9, -1, 2, None, -1, None)) == Fetched(b"", 9, 9, [])


def test_isolation_is_read_committed_at_first() -> None:
    assert RecordSearch(PLACE, 5).isolation == READ_COMMITTED


TEN = {offset: 1000 + offset for offset in range(10)}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("offset", [0, 1, 7, 9])
def test_the_record_at_the_offset_and_the_one_before(codec: str, offset: int) -> None:
    found = neighbours(batch(TEN, codec=codec), 0, offset, [])
    assert found.first == 1000 + offset
    assert found.before == (None if offset == 0 else 999 + offset)


def test_the_first_record_after_an_offset_that_compaction_removed() -> None:
    found = neighbours((batch({0: 1000, 1: 1001}, next_offset=5) + batch({8: 1008})), 0, 3, [])
    assert (found.before, found.first) == (1001, 1008)


def test_the_search_goes_on_after_a_batch_whose_last_records_were_compacted_away() -> None:
    found = neighbours(batch({0: 1000, 1: 1001}, next_offset=5), 0, 3, [])
    assert (found.before, found.first, found.next_offset) == (1001, None, 5)


def test_aborted_records_are_not_records() -> None:
    log = interleaved_transactions()
    aborted = [(7, 0)]
    assert neighbours(log, 0, 0, aborted).first == 1001
    found = neighbours(log, 0, 3, aborted)
    assert (found.before, found.first) == (1002, 1004)


MEGABYTE = 1_000_000
PARTITIONS = 4
RECORDS = 12
SMALL_TALK = 3000
"""Bytes that answers without a record may take in a pass."""


# What passes over a real broker's logs cost: bytes that came over the sockets.


class Socket:
    """Bytes that a cluster's sockets received since they were last asked for."""

    def __init__(self, cluster: MeasuredCluster) -> None:
        self._brokers = cluster.measurer._reader.brokers
        self._seen = 0

    def since(self) -> int:
        before, self._seen = self._seen, received_bytes(self._brokers)
        return self._seen - before


@pytest.fixture
def socket(cluster: MeasuredCluster) -> Socket:
    return Socket(cluster)


def filled(logs: TimedLogs, clock: ManualClock, size: int, partitions: int = PARTITIONS) -> str:
    """A topic with batches of that size, each of one record."""
    topic = logs.topic(partitions=partitions, max_message_bytes="8000000")
    times = [clock.now_ms() - (RECORDS - n) * MINUTE for n in range(RECORDS)]
    for partition in range(partitions):
        logs.produce_alone(topic, times, partition, size=size)
    return topic


@pytest.mark.parametrize("size", [16 * 1024, 64 * 1024, 512 * 1024, MEGABYTE])
def test_a_moved_position_costs_its_batch_and_one_that_stays_nothing(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, socket: Socket, size: int
) -> None:
    topic = filled(logs, clock, size)
    most = 1.3 * PARTITIONS * size
    found = columns(cluster.measure_one(topic, [9] * PARTITIONS))
    assert found.freshness_ms == [3 * MINUTE] * PARTITIONS
    assert socket.since() <= most  # first look
    assert columns(cluster.measure_one(topic, [9] * PARTITIONS)).reason == ["exact"] * PARTITIONS
    assert socket.since() <= SMALL_TALK
    found = columns(cluster.measure_one(topic, [10] * PARTITIONS))
    assert found.freshness_ms == [2 * MINUTE] * PARTITIONS
    assert socket.since() <= most
    for _ in range(3):
        cluster.measure()
    assert socket.since() <= SMALL_TALK


def test_a_dead_group_before_the_start_of_its_logs_is_read_once(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, socket: Socket
) -> None:
    topic = filled(logs, clock, MEGABYTE)
    for partition in range(PARTITIONS):
        logs.delete_records(topic, 6, partition)
    found = columns(cluster.measure_one(topic, [3] * PARTITIONS))
    assert (found.reason, found.lost_records) == (["expired"] * PARTITIONS, [3] * PARTITIONS)
    assert socket.since() <= 1.3 * PARTITIONS * MEGABYTE
    for _ in range(3):
        clock.advance(10)
        assert columns(cluster.measure()[GROUP]).reason == ["expired"] * PARTITIONS
    assert socket.since() <= SMALL_TALK
