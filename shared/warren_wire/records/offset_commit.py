"""Committed offsets: OffsetCommitKey versions 0-1, OffsetCommitValue versions 0-4."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

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
    unknown_tags: int = 0


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
    unknown = len(tags.keys() - {_TOPIC_ID_TAG})
    return OffsetCommitValue(offset, timestamp_ms, leader_epoch, metadata, _topic_id(tags), unknown)


def _topic_id(tags: dict[int, Buffer]) -> UUID | None:
    """Kafka writes an all-zero id, or none, for "unknown"."""
    content = tags.get(_TOPIC_ID_TAG)
    topic_id = _NO_TOPIC_ID if content is None else content.uuid("topic_id")
    return None if topic_id == _NO_TOPIC_ID else topic_id
