from collections.abc import Mapping

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from support.record_batches import marker
from warren_collector.sources.unstable_tails import OpenTransactions
from warren_wire.record_batches import decoded_batches

PLAIN = -1


def written(base: int, keys: list[bytes], producer: int = PLAIN) -> bytes:
    builder = DefaultRecordBatchBuilder(2, 0, producer != PLAIN, producer, 0, 0, 1 << 20)
    for at, key in enumerate(keys):
        builder.append(at, 1, key, b"value", [])
    content = bytearray(builder.build())
    content[:8] = base.to_bytes(8)
    return bytes(content)


def seen(transactions: OpenTransactions, *batches: bytes) -> list[tuple[int, int]]:
    """Offset of each record that became visible, and since which offset it is."""
    return [
        (one.record.offset, one.since)
        for batch in decoded_batches(b"".join(batches))
        for one in transactions.take(batch)
    ]


def test_plain_records_are_visible_at_once() -> None:
    transactions = OpenTransactions(10)
    assert seen(transactions, written(10, [b"a", b"b"])) == [(10, 10), (11, 11)]
    assert (transactions.position, transactions.pending) == (12, 0)


def test_records_before_the_start_are_none_of_ours() -> None:
    """A response begins with the batch that holds the wanted offset."""
    assert seen(OpenTransactions(11), written(10, [b"a", b"b"])) == [(11, 11)]


def test_a_transactions_records_are_visible_since_its_marker() -> None:
    transactions = OpenTransactions(0)
    assert seen(transactions, written(0, [b"a", b"b"], producer=7), written(2, [b"c"])) == [(2, 2)]
    assert transactions.pending == 2
    assert seen(transactions, marker(3, 7, commit=True)) == [(0, 3), (1, 3)]
    assert (transactions.position, transactions.pending) == (4, 0)


def test_what_is_aborted_is_never_visible() -> None:
    transactions = OpenTransactions(0)
    records = seen(
        transactions,
        written(0, [b"a"], producer=7),
        written(1, [b"a"], producer=8),
        marker(2, 7, commit=False),
        marker(3, 8, commit=True),
        written(4, [b"b"], producer=7),
    )
    assert records == [(1, 3)]
    assert transactions.pending == 1


def test_a_marker_without_records_and_other_control_records_end_nothing() -> None:
    transactions = OpenTransactions(0)
    content = written(0, [b"a"], producer=7) + marker(1, 7, commit=True, kind=5)
    assert seen(transactions, content, marker(2, 9, commit=True)) == []
    assert transactions.pending == 1


def test_of_each_key_the_record_that_was_written_last_wins() -> None:
    transactions = OpenTransactions(0)
    records = seen(
        transactions,
        written(0, [b"a", b"b", b"c"], producer=7),
        written(3, [b"a"]),
        written(4, [b"c"], producer=8),
        marker(5, 8, commit=True),
        marker(6, 7, commit=True),
    )
    assert records == [(3, 3), (4, 5), (1, 6)]


def test_what_is_decided_is_not_kept() -> None:
    transactions = OpenTransactions(0)
    seen(transactions, *(written(at, [b"%d" % at]) for at in range(10)))
    assert len(newest(transactions)) == 10
    transactions.decide(8)
    assert newest(transactions) == {b"8": 8, b"9": 9}


def newest(transactions: OpenTransactions) -> Mapping[bytes | None, int]:
    return transactions._newest
