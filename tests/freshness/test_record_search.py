from support.record_batches import batch, marker
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


def test_nothing_but_control_records_up_to_the_end() -> None:
    search = RecordSearch(PLACE, 4)
    search.take(fetched(batch({4: 1004}) + marker(5, 7, commit=True), end=6))
    assert search.reading == Reading("none", before=1004, end=6)


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


def test_the_record_before_is_not_worth_an_answer_that_does_not_come() -> None:
    search = RecordSearch.planned(PLACE, 2, expected=None)
    search.take(fetched(batch({5: 1005}), end=9))
    search.take(fetched(b"", end=9))
    assert search.reading == Reading("record", first=1005)


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
    assert search.reading == Reading("none", end=5)


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


def test_damaged_bytes() -> None:
    search = RecordSearch(PLACE, 5)
    damaged = bytearray(batch({5: 1005}, codec="zstd"))
    damaged[61:] = bytes(len(damaged) - 61)
    search.take(fetched(bytes(damaged), end=6))
    assert search.reading == Reading("corrupt")


def test_only_the_record_before() -> None:
    search = RecordSearch(LogPosition("orders", 0, 5), 3, only_before=True)
    search.take(fetched(batch({3: 1003, 4: 1004}), end=9, stable_end=6))
    assert search.reading == Reading("none", before=1004, end=9)


def test_partitions_of_responses_from_version_4_to_11() -> None:
    aborted = [(7, 3)]
    expected = Fetched(b"x", 9, 8, aborted)
    assert Fetched.from_response((0, 0, 9, 8, aborted, b"x")) == expected
    assert Fetched.from_response((0, 0, 9, 8, 2, aborted, b"x")) == expected
    assert Fetched.from_response((0, 0, 9, 8, 2, aborted, -1, b"x")) == expected
    assert Fetched.from_response((0, 0, 9, -1, 2, None, -1, None)) == Fetched(b"", 9, 9, [])


def test_isolation_is_read_committed_at_first() -> None:
    assert RecordSearch(PLACE, 5).isolation == READ_COMMITTED
