"""Fetch: record batches as logs and responses hold them, in message formats 0 to 2, decoded.

What a read_committed consumer passes over follows KIP-98: control batches, and batches of
transactions that the fetch response lists as aborted.
"""

import struct
import zlib
from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter
from typing import Any, Literal, Protocol

import cramjam
from aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.record.memory_records import MemoryRecords
from warren.errors import UnreadableBatch

UNKNOWN = -1
NO_PRODUCER = -1
_NO_WAIT = 0
TransactionMarker = Literal["commit", "abort"]

_FIRST_OFFSET = itemgetter(1)
_CONTROL_KEY = struct.Struct(">hh")  # version, type
_MARKERS: dict[int, TransactionMarker] = {0: "abort", 1: "commit"}
# What aiokafka, its codecs and struct raise on bytes that they do not expect.
_UNREADABLE = (
    *(CorruptRecordException, UnsupportedCodecError, cramjam.DecompressionError),
    *(AssertionError, EOFError, IndexError, OSError, OverflowError, TypeError, ValueError),
    *(struct.error, zlib.error),
)


def fetch_request(
    topics: Sequence[tuple[str, Sequence[tuple[int, int, int]]]], most_bytes: int, isolation: int
) -> FetchRequest:
    """Asks for what is there, and waits for nothing. `topics`: (partition, offset, most bytes)."""
    return FetchRequest(_NO_WAIT, _NO_WAIT, most_bytes, isolation, topics)


class Record(Protocol):
    """One record of a batch. `timestamp` in Unix ms, None in message format 0 (KIP-32)."""

    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int | None: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


class RecordBatch:
    """One batch; its records are decompressed when they are asked for.

    `marker`: how a transaction of `producer_id` ended here; None for all but transaction markers.
    """

    __slots__ = ("_batch", "_records", "is_control", "marker")

    def __init__(self, batch: Any) -> None:
        """`batch`: aiokafka's, of any message format. Raises what that raises."""
        self._batch = batch
        self._records: Iterator[Record] | None = None
        self.is_control: bool = batch.is_control_batch
        """Written by a broker, not by a producer: no record of an application."""
        self.marker = _marker(batch) if self.is_control else None

    @property
    def base_offset(self) -> int:
        """Offset that its first record had or has; UNKNOWN in message formats 0 and 1."""
        offset: int = getattr(self._batch, "base_offset", UNKNOWN)
        return offset

    @property
    def next_offset(self) -> int:
        """Offset after its last record, also when compaction has removed that one."""
        offset: int = self._batch.next_offset
        return offset

    @property
    def producer_id(self) -> int:
        """NO_PRODUCER unless an idempotent or transactional producer wrote it."""
        producer: int | None = self._batch.producer_id
        return NO_PRODUCER if producer is None else producer

    @property
    def is_transactional(self) -> bool:
        is_transactional: bool = self._batch.is_transactional
        return is_transactional

    def records(self) -> Iterator[Record]:
        """In the order of their offsets, each once; none of a control batch.

        Raises UnreadableBatch.
        """
        if self._records is None:
            self._records = iter(()) if self.is_control else _decoded_records(self._batch)
        return self._records


class ReadCommitted:
    """What isolation level read_committed shows of batches, taken in the order of the log."""

    def __init__(self, aborted: Collection[tuple[int, int]]) -> None:
        """`aborted`: (producer id, first offset) of transactions, as fetch responses have them."""
        self._to_come = sorted(aborted, key=_FIRST_OFFSET, reverse=True) if aborted else []
        self._aborting: set[int] = set()

    def shows(self, batch: RecordBatch) -> bool:
        """Whether the batch's records are an application's, and not aborted.

        To be asked once for each batch, markers among them.
        """
        while self._to_come and self._to_come[-1][1] <= batch.base_offset:
            self._aborting.add(self._to_come.pop()[0])
        if batch.is_control:
            if batch.marker == "abort":
                self._aborting.discard(batch.producer_id)
            return False
        if not self._aborting:  # almost always, and a log may have many small batches
            return True
        return not (batch.is_transactional and batch.producer_id in self._aborting)


def decoded_batches(content: bytes) -> Iterator[RecordBatch]:
    """Batches one after the other; one that is cut off at the end is left out, as Kafka may cut.

    Raises UnreadableBatch.
    """
    try:
        batches = MemoryRecords(content)
        while batches.has_next():
            yield RecordBatch(batches.next_batch())
    except _UNREADABLE as error:
        raise _unreadable(error) from error


def _decoded_records(batch: Any) -> Iterator[Record]:
    try:
        yield from batch
    except _UNREADABLE as error:
        raise _unreadable(error) from error


def _marker(control_batch: Any) -> TransactionMarker | None:
    for record in control_batch:
        _version, kind = _CONTROL_KEY.unpack_from(record.key)
        return _MARKERS.get(kind)
    return None  # compaction has left only the batch


def _unreadable(error: Exception) -> UnreadableBatch:
    return UnreadableBatch(f"{type(error).__name__}: {error}")
