"""Records of the offsets topic one by one: keys and values together, tombstones too."""

from dataclasses import dataclass
from uuid import UUID

from warren.errors import MalformedRecord
from warren_wire.records import (
    GROUP_METADATA,
    KINDS,
    NULL_KEY,
    OFFSET_COMMIT,
    Buffer,
    GroupKey,
    GroupMetadata,
    GroupRecord,
    Malformed,
    OffsetCommitValue,
    Skipped,
    decode_group_value,
    decode_offset_value,
    kind_name,
    malformed_key,
    read_group_key,
    read_key_version,
    read_offset_commit_key,
)


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """A committed offset. `leader_epoch` -1 and `topic_id` None where the version has none."""

    group: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    leader_epoch: int
    metadata: str
    topic_id: UUID | None


@dataclass(frozen=True, slots=True)
class OffsetDeleted:
    """A committed offset was deleted, or it expired."""

    group: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class GroupDeleted:
    """A classic group is gone."""

    group: str


@dataclass(frozen=True, slots=True)
class GroupRecordDeleted:
    """A tombstone: what such a record said does not hold any more."""

    key: GroupKey


Record = (
    OffsetCommit
    | OffsetDeleted
    | GroupMetadata
    | GroupDeleted
    | GroupRecord
    | GroupRecordDeleted
    | Skipped
    | Malformed
)


def kind_of(record: GroupRecord | GroupRecordDeleted) -> str:
    """Kafka's name of the schema, without Key or Value."""
    return KINDS[record.key.version].name


def decode_record(key: bytes | None, value: bytes | None) -> list[Record]:
    """What one Kafka record says. Never raises: unusable bytes are `Malformed`."""
    if key is None:
        return [NULL_KEY]
    buffer = Buffer(key)
    try:
        version = read_key_version(buffer)
        if version not in KINDS:
            return [Skipped(version, f"key version {version}: {kind_name(version)}")]
        if version not in OFFSET_COMMIT:
            named = read_group_key(buffer, version)
            if value is not None:
                return [decode_group_value(named, value)]
            is_classic = version == GROUP_METADATA
            return [GroupDeleted(named.group) if is_classic else GroupRecordDeleted(named)]
        at = read_offset_commit_key(buffer)
    except MalformedRecord as error:
        return [malformed_key(error)]
    if value is None:
        return [OffsetDeleted(at.group, at.topic, at.partition)]
    commit = decode_offset_value(version, value)
    if not isinstance(commit, OffsetCommitValue):
        return [commit]
    told = (commit.offset, commit.timestamp_ms, commit.leader_epoch, commit.metadata)
    return [OffsetCommit(at.group, at.topic, at.partition, *told, commit.topic_id)]
