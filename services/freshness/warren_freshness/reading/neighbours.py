"""The records around an offset, in what was fetched of a log. No I/O."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from warren_wire.record_batches import ReadCommitted, Record, decoded_batches

from warren_freshness.log_position import RecordTimes

NO_TIMESTAMP = -1  # message format 0 has none (KIP-32)


class Neighbours(NamedTuple):
    """What a response holds around an offset; times are raw, Unix ms."""

    before: int | None
    """Append time of the last record before the offset."""
    first: int | None
    """Append time of the first record at or after it."""
    next_offset: int
    """First offset after what was searched."""
    in_transaction: bool = False
    """Whether the first record belongs to one, which may be aborted where that is not decided."""


def neighbours(
    fetched: bytes, fetch_offset: int, offset: int, aborted: Collection[tuple[int, int]]
) -> Neighbours:
    """Looks through what was fetched from `fetch_offset` (<= `offset` when records before matter).

    `aborted` lists (producer id, first offset), as the broker does for read_committed. Raises
    UnreadableBatch.
    """
    last: Record | None = None
    next_offset = fetch_offset
    committed = ReadCommitted(aborted)
    for batch in decoded_batches(fetched):
        if committed.shows(batch):
            for record in batch.records():
                if record.offset >= offset:
                    in_transaction = batch.is_transactional
                    return Neighbours(_time(last), _time(record), record.offset + 1, in_transaction)
                last = record
        next_offset = max(next_offset, batch.next_offset)
    return Neighbours(_time(last), None, next_offset)


def times_at(
    fetched: bytes, offsets: Sequence[int], aborted: Collection[tuple[int, int]]
) -> dict[int, RecordTimes]:
    """The records at or after each of `offsets` (ascending, none before what was fetched), and
    those before: as far as they are in `fetched`. Raises UnreadableBatch."""
    found: dict[int, RecordTimes] = {}
    at, last = 0, None
    for record in _shown(fetched, aborted):
        while at < len(offsets) and record.offset >= offsets[at]:
            first = _time(record)
            assert first is not None
            found[offsets[at]] = RecordTimes(first, _time(last))
            at += 1
        if at == len(offsets):
            break
        last = record
    return found


def _shown(fetched: bytes, aborted: Collection[tuple[int, int]]) -> Iterator[Record]:
    committed = ReadCommitted(aborted)
    for batch in decoded_batches(fetched):
        if committed.shows(batch):
            yield from batch.records()


def _time(record: Record | None) -> int | None:
    if record is None:
        return None
    return NO_TIMESTAMP if record.timestamp is None else record.timestamp
