"""Searching fetched record batches for the records around an offset. No I/O.

What counts as a record follows KIP-98: control batches do not, nor do batches of transactions
that the fetch response lists as aborted.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import cramjam
from aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from aiokafka.record.memory_records import MemoryRecords

NO_TIMESTAMP = -1  # message format 0 has none (KIP-32)
_CONTROL_KEY = struct.Struct(">hh")  # version, type
_ABORT = 0
# What aiokafka, gzip and struct raise on bytes that they do not expect.
_UNEXPECTED_BYTES = (
    *(AssertionError, EOFError, IndexError, OSError, OverflowError, TypeError, ValueError),
    *(struct.error, zlib.error),
)


class UnreadableBatch(Exception):
    """Bytes that are no record batch, or are compressed in a way that nobody knows."""


class Search(NamedTuple):
    """What a response holds around the searched offset; times are raw, Unix ms."""

    before: int | None
    """Append time of the last record before the offset."""
    first: int | None
    """Append time of the first record at or after it."""
    next_offset: int
    """First offset after what was searched."""


def search(
    fetched: bytes, fetch_offset: int, offset: int, aborted: Iterable[tuple[int, int]]
) -> Search:
    """Looks through what was fetched from `fetch_offset` (<= `offset` when records before matter).

    `aborted` lists (producer id, first offset), as the broker does for read_committed. Raises
    UnreadableBatch.
    """
    try:
        return _search(fetched, fetch_offset, offset, sorted(aborted, key=lambda t: t[1]))
    except (CorruptRecordException, UnsupportedCodecError, cramjam.DecompressionError) as error:
        raise UnreadableBatch(str(error)) from error
    except _UNEXPECTED_BYTES as error:
        raise UnreadableBatch(f"{type(error).__name__}: {error}") from error


def _search(
    fetched: bytes, fetch_offset: int, offset: int, aborted: list[tuple[int, int]]
) -> Search:
    last: Any = None
    next_offset = fetch_offset
    aborting: set[int] = set()
    batches = MemoryRecords(fetched)
    while batches.has_next():
        batch = batches.next_batch()
        if batch.producer_id is not None:  # message formats 0 and 1 have no transactions
            while aborted and aborted[0][1] <= batch.base_offset:
                aborting.add(aborted.pop(0)[0])
            if batch.is_control_batch and _is_abort(batch):
                aborting.discard(batch.producer_id)
        is_aborted = batch.is_transactional and batch.producer_id in aborting
        if not batch.is_control_batch and not is_aborted:
            for record in batch:
                if record.offset >= offset:
                    return Search(_time(last), _time(record), record.offset + 1)
                last = record
        next_offset = max(next_offset, batch.next_offset)
    return Search(_time(last), None, next_offset)


def _is_abort(control_batch: Any) -> bool:
    marker = next(iter(control_batch))
    _version, kind = _CONTROL_KEY.unpack_from(marker.key)
    return bool(kind == _ABORT)


def _time(record: Any) -> int | None:
    if record is None:
        return None
    return NO_TIMESTAMP if record.timestamp is None else int(record.timestamp)
