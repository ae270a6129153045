from __future__ import annotations

import struct
from io import BytesIO

import pytest
from support.coordinator_records import string, varint
from warren_wire.committed_offsets import OffsetFetchPartitions


def row(partition: int, offset: int, metadata: str | None = "", error: int = 0) -> bytes:
    return (
        struct.pack(">iqi", partition, offset, 4)
        + string(metadata, compact=True)
        + struct.pack(">h", error)
        + varint(0)
    )


def decode(*rows: bytes, after: bytes = b"") -> tuple[list[int], list[int], bytes]:
    data = BytesIO(varint(len(rows) + 1) + b"".join(rows) + after)
    decoded = OffsetFetchPartitions.decode(data)
    return decoded.partition.tolist(), decoded.offset.tolist(), data.read()


@pytest.mark.parametrize("metadata", ["", None, "m", "x" * 200])
def test_metadata_or_not_the_offsets_are_the_same(metadata: str | None) -> None:
    rows = [row(0, 5), row(1, 2**40, metadata), row(2, 7), row(9, 0)]
    assert decode(*rows, after=b"rest") == ([0, 1, 2, 9], [5, 2**40, 7, 0], b"rest")


@pytest.mark.parametrize("metadata", ["", "m"])
def test_refused_partitions_and_those_without_an_offset_are_left_out(metadata: str) -> None:
    rows = [row(0, -1, metadata), row(1, 6, metadata, error=3), row(2, 8, metadata)]
    assert decode(*rows) == ([2], [8], b"")


def test_no_partitions() -> None:
    assert decode() == ([], [], b"")


def test_bytes_that_end_too_early_are_an_error() -> None:
    with pytest.raises(ValueError, match="hit error"):
        OffsetFetchPartitions.decode(BytesIO(varint(3) + row(0, 5) + row(1, 6)[:-9]))
