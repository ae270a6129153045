from collections.abc import Collection

import pytest
from hypothesis import given, strategies as st
from support.record_batches import (
    CODECS,
    batch,
    emptied_marker,
    interleaved_transactions,
    legacy,
    marker,
)
from warren.errors import UnreadableBatch
from warren_wire.record_batches import (
    NO_PRODUCER,
    UNKNOWN,
    ReadCommitted,
    decoded_batches,
)

TEN = {offset: 1000 + offset for offset in range(10)}


def read_committed(log: bytes, aborted: Collection[tuple[int, int]] = ()) -> dict[int, int | None]:
    """{offset: timestamp} of the records that a read_committed consumer gets."""
    committed = ReadCommitted(aborted)
    return {
        record.offset: record.timestamp
        for found in decoded_batches(log)
        if committed.shows(found)
        for record in found.records()
    }


@pytest.mark.parametrize("codec", CODECS)
def test_what_a_batch_says(codec: str) -> None:
    log = batch(TEN, codec=codec) + batch({12: 1012}, producer_id=7, transactional=True)
    first, second = decoded_batches(log)
    assert (first.base_offset, first.next_offset) == (0, 10)
    assert (first.producer_id, first.is_transactional, first.is_control) == (
        NO_PRODUCER,
        False,
        False,
    )
    assert (second.base_offset, second.next_offset) == (12, 13)
    assert (second.producer_id, second.is_transactional, second.is_control) == (7, True, False)
    (record,) = second.records()
    assert (record.offset, record.timestamp) == (12, 1012)
    assert (record.key, record.value, list(record.headers)) == (b"key", b"value" * 20, [])


def test_a_batch_ends_where_it_ended_before_compaction() -> None:
    (found,) = decoded_batches(batch({3: 1003, 4: 1004}, next_offset=9))
    assert [record.offset for record in found.records()] == [3, 4]
    assert (found.base_offset, found.next_offset) == (3, 9)


def test_records_are_handed_out_once() -> None:
    (found,) = decoded_batches(batch(TEN))
    assert next(found.records()).offset == 0
    assert [record.offset for record in found.records()] == list(range(1, 10))
    assert list(found.records()) == []


@pytest.mark.parametrize("commit", [True, False])
def test_markers_say_how_a_transaction_ended(commit: bool) -> None:
    log = batch({0: 1000}, producer_id=7, transactional=True) + marker(1, 7, commit=commit)
    records, end = decoded_batches(log)
    assert (records.marker, end.marker) == (None, "commit" if commit else "abort")
    assert (end.is_control, end.producer_id, end.next_offset) == (True, 7, 2)


def test_control_batches_that_end_no_transaction() -> None:
    (found,) = decoded_batches(marker(0, NO_PRODUCER, commit=True, kind=2))  # leader change
    assert (found.is_control, found.marker) == (True, None)


def test_a_marker_whose_record_compaction_removed() -> None:
    (found,) = decoded_batches(emptied_marker(1, 7))
    assert (found.is_control, found.marker, list(found.records())) == (True, None, [])


def test_a_control_record_without_a_type() -> None:
    with pytest.raises(UnreadableBatch):
        list(decoded_batches(marker(1, 7, commit=False, key=b"\x00")))


@pytest.mark.parametrize(
    ("log", "aborted", "shown"),
    [
        pytest.param(
            batch({0: 1000}, producer_id=7, transactional=True) + marker(1, 7, commit=True),
            [],
            {0: 1000},
            id="control records are none",
        ),
        pytest.param(
            interleaved_transactions(),
            [(7, 0)],
            {1: 1001, 2: 1002, 4: 1004},
            id="aborted ones are none",
        ),
        pytest.param(
            batch({10: 1010}, producer_id=7, transactional=True) + marker(11, 7, commit=False),
            [(7, 4)],
            {},
            id="aborted before what was fetched began to be",
        ),
        pytest.param(
            batch({0: 1000}, producer_id=7, transactional=True)
            + marker(1, 7, commit=False)
            + batch({2: 1002}, producer_id=7, transactional=True)
            + marker(3, 7, commit=False)
            + batch({4: 1004}),
            [(7, 2), (7, 0)],
            {4: 1004},
            id="two aborted transactions of one producer",
        ),
        pytest.param(
            batch({5: 1005}, producer_id=7),
            [(7, 4)],
            {5: 1005},
            id="an idempotent producer's are in no transaction",
        ),
        pytest.param(legacy({0: 9, 1: 8}, magic=1), [], {0: 9, 1: 8}, id="format 1 has times"),
        pytest.param(legacy({0: None}, magic=0), [], {0: None}, id="format 0 has none"),
        pytest.param(
            batch({0: 1000}) + batch({1: 1001})[:-1],
            [],
            {0: 1000},
            id="a batch that is cut off is not there",
        ),
        pytest.param(b"", [], {}, id="nothing"),
    ],
)
def test_who_reads_what_is_committed_gets_these(
    log: bytes, aborted: list[tuple[int, int]], shown: dict[int, int | None]
) -> None:
    assert read_committed(log, aborted) == shown


def test_message_formats_before_2_know_no_producer() -> None:
    first, _ = decoded_batches(legacy({4: 1000, 5: 1001}, magic=1))
    assert (first.base_offset, first.next_offset) == (UNKNOWN, 5)
    assert (first.producer_id, first.is_control, first.marker) == (NO_PRODUCER, False, None)


def flipped(at: int, mask: int) -> bytes:
    content = bytearray(batch(TEN))
    content[at] ^= mask
    return bytes(content)


@pytest.mark.parametrize(
    "damaged",
    [
        *(
            pytest.param(content[:70] + b"\xff" * (len(content) - 70), id=codec)
            for codec in CODECS
            if codec != "none" and (content := batch(TEN, codec=codec))
        ),
        *(pytest.param(flipped(at, 0xFF), id=f"byte {at}") for at in (57, 61, 62)),
        pytest.param(flipped(22, 7), id="an unknown codec"),
    ],
)
def test_damaged_batches_are_refused(damaged: bytes) -> None:
    with pytest.raises(UnreadableBatch):
        read_committed(damaged)


@given(
    codec=st.sampled_from(list(CODECS)),
    flips=st.lists(st.tuples(st.integers(0, 400), st.integers(1, 255)), min_size=1, max_size=3),
    aborted=st.booleans(),
)
def test_damage_never_raises_anything_else(
    codec: str, flips: list[tuple[int, int]], aborted: bool
) -> None:
    log = batch(TEN, codec=codec, producer_id=7, transactional=True) + marker(10, 7, commit=False)
    damaged = bytearray(log + batch({11: 1011}, codec=codec))
    for at, mask in flips:
        damaged[at % len(damaged)] ^= mask
    try:
        for found in decoded_batches(bytes(damaged)):
            assert isinstance(found.base_offset, int)
            assert isinstance(found.next_offset, int)
            assert found.marker in ("commit", "abort", None)
        read_committed(bytes(damaged), [(7, 0)] if aborted else [])
    except UnreadableBatch:
        return
