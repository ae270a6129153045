"""The partitions of an OffsetFetch response, decoded into columns.

A response may hold a hundred thousand partitions. Those without metadata next to the offset are
all equally long, and NumPy reads them at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import Any

import numpy as np
from aiokafka.protocol.types import (
    AbstractType,
    CompactString,
    Int16,
    Int32,
    Int64,
    TaggedFields,
    UnsignedVarInt32,
)

from warren_collector.admin.committed_offsets import CommittedOffsets

_NO_ERROR = 0
_METADATA = CompactString("utf-8")
_WITHOUT_METADATA = np.dtype(
    [
        ("partition", ">i4"),
        ("offset", ">i8"),
        ("leader_epoch", ">i4"),
        ("metadata", "u1"),  # length + 1: 0 is null, 1 is empty
        ("error", ">i2"),
        ("tags", "u1"),
    ]
)


class OffsetFetchPartitions(AbstractType[CommittedOffsets]):  # type: ignore[misc]  # untyped base
    """The field `partitions` of OffsetFetchResponse version 8."""

    @classmethod
    def decode(cls, data: BytesIO) -> CommittedOffsets:
        """Raises ValueError where the bytes end too early."""
        count = max(UnsignedVarInt32.decode(data) - 1, 0)
        start = data.tell()
        raw = data.read(count * _WITHOUT_METADATA.itemsize)
        if len(raw) == count * _WITHOUT_METADATA.itemsize:
            rows = np.frombuffer(raw, _WITHOUT_METADATA)
            # Up to the first row with metadata the rows are where they seem to be; it shows.
            if (rows["metadata"] <= 1).all() and (rows["tags"] == 0).all():
                return _committed(rows["partition"], rows["offset"], rows["error"])
        data.seek(start)
        return from_rows(_decode_row(data) for _ in range(count))


def _decode_row(data: BytesIO) -> tuple[int, int, str | None, int]:
    partition, offset = Int32.decode(data), Int64.decode(data)
    Int32.decode(data)  # the leader epoch
    metadata, error = _METADATA.decode(data), Int16.decode(data)
    TaggedFields.decode(data)
    return partition, offset, metadata, error


def from_rows(rows: Iterable[Any]) -> CommittedOffsets:
    """Of (partition, offset, metadata, error), as older versions of the response have them."""
    listed = [(partition, offset, error) for partition, offset, _metadata, error in rows]
    columns = np.array(listed, np.int64).reshape(-1, 3)
    return _committed(columns[:, 0], columns[:, 1], columns[:, 2])


def _committed(partitions: Any, offsets: Any, errors: Any) -> CommittedOffsets:
    there = (errors == _NO_ERROR) & (offsets >= 0)
    return CommittedOffsets(partitions[there].astype(np.int64), offsets[there].astype(np.int64))
