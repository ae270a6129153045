"""Committed offsets: OffsetCommitKey versions 0-1, OffsetCommitValue versions 0-4."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from warren.errors import MalformedRecord

from warren_wire.records.buffer import Buffer

LEADER_EPOCH_SINCE = 3
FLEXIBLE_SINCE = 4
NEWEST_VALUE = 4
PARTITION_BYTES = 4
_TOPIC_ID_TAG = 0
_NO_TOPIC_ID = UUID(int=0)


@dataclass(frozen=True, slots=True)
class OffsetCommitKey:
    """Which position."""

    group: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class OffsetCommitValue:
    """What was committed. Version 1's expiry time is read over: only brokers act on it."""

    offset: int
    timestamp_ms: int
    leader_epoch: int
    metadata: str
    topic_id: UUID | None


def read_offset_commit_key(key: Buffer) -> OffsetCommitKey:
    """Reads what follows the key's version. Raises MalformedRecord."""
    group, topic, at = key.string("group"), key.string("topic"), key.at
    partition = key.int32("partition")
    if partition < 0:
        raise MalformedRecord(f"partition: {partition} is negative", field="partition", at=at)
    return OffsetCommitKey(group, topic, partition)


def split_offset_commit_key(key: bytes) -> tuple[bytes, int]:
    """What says version, group and topic, and the partition, which is the last field."""
    return key[:-PARTITION_BYTES], int.from_bytes(key[-PARTITION_BYTES:], signed=True)


def ends_with_partition(key: bytes) -> bool:
    """Whether nothing follows the fields of a key that could be read."""
    topic_at = 4 + int.from_bytes(key[2:4])
    partition_at = topic_at + 2 + int.from_bytes(key[topic_at : topic_at + 2])
    return partition_at + PARTITION_BYTES == len(key)


def read_offset_commit_value(value: Buffer, version: int) -> OffsetCommitValue:
    """Reads what follows the value's version, which is 0 to 4. Raises MalformedRecord.

    As Kafka's reader does, bytes after the last field are ignored.
    """
    compact = version >= FLEXIBLE_SINCE
    offset = value.int64("offset")
    leader_epoch = value.int32("leader_epoch") if version >= LEADER_EPOCH_SINCE else -1
    metadata = value.string("metadata", compact=compact)
    timestamp_ms = value.int64("commit_timestamp")
    if version == 1:
        value.int64("expire_timestamp")
    tags = value.last_tagged_fields() if compact else {}
    # Kafka writes an all-zero id, or none, for "unknown".
    content = tags.get(_TOPIC_ID_TAG)
    topic_id = _NO_TOPIC_ID if content is None else content.uuid("topic_id")
    return OffsetCommitValue(
        offset,
        timestamp_ms,
        leader_epoch,
        metadata,
        (None if topic_id == _NO_TOPIC_ID else topic_id),
    )


# Many committed-offset values at once: NumPy instead of a Python loop.


Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
_Bytes = NDArray[np.uint8]

# Fewer values of one length than this are quicker decoded one by one.
WORTH_COLUMNS = 8
_TIMESTAMP = 8
_OFFSET_AT = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """Fields of a version: version, offset, (leader epoch,) metadata, timestamp, what follows."""

    version: int
    metadata_at: int
    compact: bool
    following: int
    """Bytes after the timestamp."""
    tags: bytes = b""
    """How they must begin: the number of tagged fields, tag and size."""


LAYOUTS = (
    Layout(version=3, metadata_at=14, compact=False, following=0),
    Layout(version=4, metadata_at=14, compact=True, following=19, tags=b"\x01\x00\x10"),
    Layout(version=4, metadata_at=14, compact=True, following=1, tags=b"\x00"),
    Layout(version=2, metadata_at=10, compact=False, following=0),
    Layout(version=1, metadata_at=10, compact=False, following=8),
    Layout(version=0, metadata_at=10, compact=False, following=0),
)
_MAX_COMPACT = 0x7F - 1  # a varint of one byte holds the size plus one


@dataclass(frozen=True, slots=True)
class CommitColumns:
    """One entry per value; offset and time are meaningless where `decoded` is false."""

    offset: Int64s
    committed_at: Int64s
    decoded: Bools

    def set(self, index: int, offset: int, committed_at: int) -> None:
        """Fills in a value that was decoded alone."""
        self.offset[index] = offset
        self.committed_at[index] = committed_at
        self.decoded[index] = True


def decode_commit_values(values: Sequence[bytes]) -> CommitColumns:
    """Decodes what can be decoded together; the caller does the rest.

    A value is a whole OffsetCommitValue with its version.
    """
    count = len(values)
    columns = CommitColumns(
        np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.bool_)
    )
    lengths = np.fromiter(map(len, values), np.int64, count)
    common, counts = np.unique(lengths, return_counts=True)
    for length in common[counts >= WORTH_COLUMNS].tolist():
        of_length = lengths == length
        if of_length.all():
            block = b"".join(values)
            indexes = np.arange(count)
        else:
            block = b"".join(compress(values, of_length.tolist()))
            indexes = of_length.nonzero()[0]
        if length:
            _decode_block(np.frombuffer(block, np.uint8).reshape(-1, length), indexes, columns)
    return columns


def _decode_block(block: _Bytes, indexes: Int64s, columns: CommitColumns) -> None:
    """Decodes values of equal length: a row each."""
    length = block.shape[1]
    for layout in LAYOUTS:
        size_bytes = 1 if layout.compact else 2
        # Of metadata; may be negative: no fit.
        size = length - layout.metadata_at - size_bytes - _TIMESTAMP - layout.following
        if size < 0 or (layout.compact and size > _MAX_COMPACT):
            continue
        fits = _fits(block, layout, size)
        if fits.any():
            rows = np.ascontiguousarray(block[fits])
            found = indexes[fits]
            timestamp_at = length - layout.following - _TIMESTAMP
            columns.offset[found] = _int64_at(rows, _OFFSET_AT)
            columns.committed_at[found] = _int64_at(rows, timestamp_at)
            columns.decoded[found] = True
            if len(found) == len(indexes):
                return


def _fits(block: _Bytes, layout: Layout, size: int) -> Bools:
    """Which rows have this layout with `size` bytes of ASCII metadata."""
    metadata_at = layout.metadata_at + (1 if layout.compact else 2)
    fits: Bools = (block[:, 0] == 0) & (block[:, 1] == layout.version)
    if layout.compact:
        fits &= block[:, layout.metadata_at] == size + 1
    else:
        fits &= block[:, layout.metadata_at] == size >> 8
        fits &= block[:, layout.metadata_at + 1] == size & 0xFF
    tags_at = metadata_at + size + _TIMESTAMP
    for index, byte in enumerate(layout.tags):
        fits &= block[:, tags_at + index] == byte
    if size:
        fits &= (block[:, metadata_at : metadata_at + size] < 0x80).all(axis=1)
    return fits


def _int64_at(rows: _Bytes, at: int) -> Int64s:
    return np.ascontiguousarray(rows[:, at : at + 8]).view(">i8").reshape(-1).astype(np.int64)
