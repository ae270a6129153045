"""The records around an offset, in what was fetched of a log. No I/O."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from warren.kafka.record_batches import ReadCommitted, Record, decoded_batches

NO_TIMESTAMP = -1  # message format 0 has none (KIP-32)


class Neighbours(NamedTuple):
    """What a response holds around an offset; times are raw, Unix ms."""

    before: int | None
    """Append time of the last record before the offset."""
    first: int | None
    """Append time of the first record at or after it."""
    next_offset: int
    """First offset after what was searched."""


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
                    return Neighbours(_time(last), _time(record), record.offset + 1)
                last = record
        next_offset = max(next_offset, batch.next_offset)
    return Neighbours(_time(last), None, next_offset)


def _time(record: Record | None) -> int | None:
    if record is None:
        return None
    return NO_TIMESTAMP if record.timestamp is None else record.timestamp
