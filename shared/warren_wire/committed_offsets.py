"""OffsetFetch: the committed offsets of groups, as columns.

Version 8 asks about many groups at once (KIP-709), version 3 about one. A response may hold a
hundred thousand partitions. Those without metadata next to the offset are all equally long, and
NumPy reads them at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from aiokafka.protocol.commit import OffsetFetchRequest_v3
from aiokafka.protocol.types import (
    AbstractType,
    Boolean,
    CompactArray,
    Int16,
    Int32,
    Int64,
    TaggedFields,
    UnsignedVarInt32,
)
from numpy.typing import NDArray

from warren_wire.metadata import NO_ERROR, NO_TAGS, TEXT, KafkaRequest, layout, row, rows

Int64s = NDArray[np.int64]
_ALL_TOPICS = None


@dataclass(frozen=True, slots=True)
class CommittedOffsets:
    """One group in one topic: an entry per partition that has a committed offset.

    `committed_at` (Unix ms) is None where the source does not know when.
    """

    partition: Int64s
    offset: Int64s
    committed_at: Int64s | None = None


TopicOffsets = Mapping[str, CommittedOffsets]
"""All committed offsets of a group, by topic."""


def from_commits(commits: Sequence[tuple[int, int, int]]) -> CommittedOffsets:
    """Of (partition, offset, Unix ms)."""
    columns = np.array(commits, np.int64).reshape(-1, 3)
    return CommittedOffsets(columns[:, 0], columns[:, 1], columns[:, 2])


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
    metadata, error = TEXT.decode(data), Int16.decode(data)
    TaggedFields.decode(data)
    return partition, offset, metadata, error


def from_rows(rows: Iterable[Any]) -> CommittedOffsets:
    """Of (partition, offset, metadata, error), as older versions of the response have them."""
    listed = [(partition, offset, error) for partition, offset, _metadata, error in rows]
    columns = np.array(listed, np.int64).reshape(-1, 3)
    return _committed(columns[:, 0], columns[:, 1], columns[:, 2])


def _committed(partitions: Any, offsets: Any, errors: Any) -> CommittedOffsets:
    there = (errors == NO_ERROR) & (offsets >= 0)
    return CommittedOffsets(partitions[there].astype(np.int64), offsets[there].astype(np.int64))


class FetchOffsetsOfGroups(KafkaRequest):
    """All committed offsets of several groups. Brokers before 3.0 do not know it."""

    LAYOUTS = (
        layout(
            9,
            8,
            request=row(
                groups=rows(group=TEXT, topics=rows(topic=TEXT, partitions=CompactArray(Int32))),
                require_stable=Boolean,
            ),
            response=row(
                throttle_time_ms=Int32,
                groups=rows(
                    group=TEXT,
                    topics=rows(topic=TEXT, partitions=OffsetFetchPartitions),
                    error_code=Int16,
                ),
            ),
        ),
    )

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups = [(group, _ALL_TOPICS, NO_TAGS) for group in groups]

    def values(self, _version: int, /) -> Sequence[Any]:
        return self._groups, False, NO_TAGS


class FetchOffsetsOfGroup(KafkaRequest):
    """All committed offsets of one group."""

    LAYOUTS = (OffsetFetchRequest_v3,)

    def __init__(self, group: str) -> None:
        self._group = group

    def values(self, _version: int, /) -> Sequence[Any]:
        return self._group, _ALL_TOPICS
