"""A record's key and value become one of the kinds in `record`: whatever the bytes are."""

from __future__ import annotations

from warren.errors import MalformedRecord

from warren_wire.records.buffer import Buffer
from warren_wire.records.group_metadata import NEWEST_VALUE as NEWEST_GROUP_METADATA
from warren_wire.records.group_metadata import read_group_metadata
from warren_wire.records.group_values import NEWEST_VALUE as NEWEST_GROUP_VALUE
from warren_wire.records.group_values import READERS
from warren_wire.records.key import (
    GROUP_METADATA,
    KINDS,
    OFFSET_COMMIT,
    GroupDeleted,
    GroupKey,
    GroupMetadata,
    GroupRecord,
    GroupRecordDeleted,
    Malformed,
    OffsetCommit,
    OffsetDeleted,
    Record,
    Skipped,
    kind_name,
    read_group_key,
    read_key_version,
)
from warren_wire.records.offset_commit import NEWEST_VALUE as NEWEST_OFFSET_COMMIT
from warren_wire.records.offset_commit import (
    OffsetCommitValue,
    read_offset_commit_key,
    read_offset_commit_value,
)

# By key version, for all kinds.
NEWEST_VALUES = {
    **dict.fromkeys(KINDS, NEWEST_GROUP_VALUE),
    **dict.fromkeys(OFFSET_COMMIT, NEWEST_OFFSET_COMMIT),
    GROUP_METADATA: NEWEST_GROUP_METADATA,
}
NULL_KEY = Malformed("key: null where a key is needed", "key", 0)


def decode_record(key: bytes | None, value: bytes | None) -> list[Record]:
    """What one Kafka record says. Never raises: unusable bytes are `Malformed`."""
    if key is None:
        return [NULL_KEY]
    buffer = Buffer(key)
    try:
        version = read_key_version(buffer)
        if version not in KINDS:
            return [Skipped(version, f"key version {version}: {kind_name(version)}")]
        if value is None:
            return [decode_tombstone(version, buffer)]
        if version in OFFSET_COMMIT:
            return [_offset(version, buffer, value)]
        return [decode_group_value(read_group_key(buffer, version), value)]
    except MalformedRecord as error:
        return [malformed_key(error)]


def decode_tombstone(
    key_version: int, key: Buffer
) -> OffsetDeleted | GroupDeleted | GroupRecordDeleted:
    """What a key without a value says is gone. Raises MalformedRecord.

    For who wants to see records one by one (`warren decode`). The collector needs no more than the
    key: `positions.recorded` and `groups.recorded.states` take it from there.
    """
    if key_version in OFFSET_COMMIT:
        position = read_offset_commit_key(key)
        return OffsetDeleted(position.group, position.topic, position.partition)
    read = read_group_key(key, key_version)
    return GroupDeleted(read.group) if key_version == GROUP_METADATA else GroupRecordDeleted(read)


def malformed_key(error: MalformedRecord) -> Malformed:
    """The record that tells of an unusable key."""
    return _malformed("key", error)


def decode_offset_value(key_version: int, value: bytes) -> OffsetCommitValue | Skipped | Malformed:
    """A commit's value, where the key is known already. Never raises."""
    buffer = Buffer(value)
    try:
        version = buffer.int16("version")
        if not 0 <= version <= NEWEST_OFFSET_COMMIT:
            return _unknown_value(key_version, version)
        return read_offset_commit_value(buffer, version)
    except MalformedRecord as error:
        return _malformed("value", error)


def _offset(key_version: int, key: Buffer, value: bytes) -> Record:
    position = read_offset_commit_key(key)
    commit = decode_offset_value(key_version, value)
    if not isinstance(commit, OffsetCommitValue):
        return commit
    return OffsetCommit(
        group=position.group,
        topic=position.topic,
        partition=position.partition,
        offset=commit.offset,
        timestamp_ms=commit.timestamp_ms,
        leader_epoch=commit.leader_epoch,
        metadata=commit.metadata,
        topic_id=commit.topic_id,
        unknown_tags=commit.unknown_tags,
    )


def decode_group_value(
    key: GroupKey, value: bytes
) -> GroupMetadata | GroupRecord | Skipped | Malformed:
    """What a record about a group says, where the key is known already. Never raises."""
    buffer = Buffer(value)
    try:
        version = buffer.int16("version")
        if not 0 <= version <= NEWEST_VALUES[key.version]:
            return _unknown_value(key.version, version)
        if key.version == GROUP_METADATA:
            return read_group_metadata(key.group, buffer, version)
        fields = READERS[key.version](buffer)
        return GroupRecord(key, fields, buffer.unknown_tags)
    except MalformedRecord as error:
        return _malformed("value", error)


def _unknown_value(key_version: int, version: int) -> Skipped:
    kind = kind_name(key_version)
    reason = f"key version {key_version}: {kind} value of unknown version {version}"
    return Skipped(key_version, reason, version)


def _malformed(part: str, error: MalformedRecord) -> Malformed:
    return Malformed(f"{part}.{error.reason}", f"{part}.{error.field}", error.at)
