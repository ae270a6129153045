"""Many committed-offset values at once: NumPy instead of a Python loop.

Values of one length and version mostly have the same layout, so their fields are columns of one
array. What differs (odd tags, metadata that is not ASCII, malformed bytes) is left to the decoder
of single records: it alone decides what is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

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

    def metadata_size(self, length: int) -> int:
        """Bytes of metadata when the whole value has `length` bytes; may be negative: no fit."""
        size_bytes = 1 if self.compact else 2
        return length - self.metadata_at - size_bytes - _TIMESTAMP - self.following


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
        size = layout.metadata_size(length)
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
    column = np.ascontiguousarray(rows[:, at : at + 8])
    return column.view(">i8").reshape(-1).astype(np.int64)
