"""A record's key and value become one of the kinds in `record`: whatever the bytes are."""

from warren.errors import MalformedRecord

from warren_wire.records.buffer import Buffer
from warren_wire.records.group_metadata import (
    NEWEST_VALUE as NEWEST_GROUP_METADATA,
    read_group_metadata,
)
from warren_wire.records.key import (
    GROUP_METADATA,
    KINDS,
    OFFSET_COMMIT,
    GroupKey,
    GroupMetadata,
    GroupRecord,
    Malformed,
    Skipped,
    kind_name,
)
from warren_wire.records.offset_commit import (
    NEWEST_VALUE as NEWEST_OFFSET_COMMIT,
    OffsetCommitValue,
    read_offset_commit_value,
)
from warren_wire.records.schema import (
    Field,
    Reader,
    Type,
    array,
    bytes_,
    int8,
    int16,
    int32,
    int32s,
    int64,
    nullable,
    nullable_array,
    nullable_in_tag,
    nullable_string,
    string,
    struct,
    uint16,
    uuid,
)

NEWEST_VALUE = 0

_STRINGS = array(string)
_INT16S = array(int16)
_NAME_AND_VALUE = array(struct(Field("key", string), Field("value", string)))
_ASSIGNMENT_EPOCHS = Field("assignment_epochs", nullable_array(int32), tag=0)
_TOPIC = (Field("topic_id", uuid), Field("topic_name", string))
_TOPIC_PARTITIONS = array(struct(Field("topic_id", uuid), Field("partitions", int32s)))
_OWNED_PARTITIONS = array(
    struct(Field("topic_id", uuid), Field("partitions", int32s), _ASSIGNMENT_EPOCHS)
)
_TASKS = array(struct(Field("subtopology_id", string), Field("partitions", int32s)))
_OWNED_TASKS = array(
    struct(Field("subtopology_id", string), Field("partitions", int32s), _ASSIGNMENT_EPOCHS)
)
_NAMED_PARTITIONS = array(struct(*_TOPIC, Field("partitions", int32s)))
_CLASSIC_MEMBER = struct(
    Field("session_timeout_ms", int32),
    Field("supported_protocols", array(struct(Field("name", string), Field("metadata", bytes_)))),
)
_INTERNAL_TOPICS = array(
    struct(
        Field("name", string),
        Field("partitions", int32),
        Field("replication_factor", int16),
        Field("topic_configs", _NAME_AND_VALUE),
    )
)
_SUBTOPOLOGIES = array(
    struct(
        Field("subtopology_id", string),
        Field("source_topics", _STRINGS),
        Field("source_topic_regex", _STRINGS),
        Field("state_changelog_topics", _INTERNAL_TOPICS),
        Field("repartition_sink_topics", _STRINGS),
        Field("repartition_source_topics", _INTERNAL_TOPICS),
        Field(
            "copartition_groups",
            array(
                struct(
                    Field("source_topics", _INT16S),
                    Field("source_topic_regex", _INT16S),
                    Field("repartition_source_topics", _INT16S),
                )
            ),
        ),
    )
)

_PARTITION_METADATA = struct(
    Field(
        "topics",
        array(
            struct(
                *_TOPIC,
                Field("num_partitions", int32),
                Field(
                    "partition_metadata",
                    array(struct(Field("partition", int32), Field("racks", _STRINGS))),
                ),
            )
        ),
    )
)
_TARGET_ASSIGNMENT_METADATA = struct(
    Field("assignment_epoch", int32),
    Field("assignment_timestamp", int64, tag=0, default=0),
)
_TARGET_ASSIGNMENT = struct(Field("topic_partitions", _TOPIC_PARTITIONS))
_MEMBER_STATE = (
    Field("member_epoch", int32),
    Field("previous_member_epoch", int32),
    Field("state", int8),
)

_VALUES: dict[int, Type] = {
    3: struct(Field("epoch", int32), Field("metadata_hash", int64, tag=0, default=0)),
    4: _PARTITION_METADATA,
    5: struct(
        Field("instance_id", nullable_string),
        Field("rack_id", nullable_string),
        Field("client_id", string),
        Field("client_host", string),
        Field("subscribed_topic_names", _STRINGS),
        Field("subscribed_topic_regex", nullable_string),
        Field("rebalance_timeout_ms", int32),
        Field("server_assignor", nullable_string),
        Field("classic_member_metadata", nullable_in_tag(_CLASSIC_MEMBER), tag=0),
    ),
    6: _TARGET_ASSIGNMENT_METADATA,
    7: _TARGET_ASSIGNMENT,
    8: struct(
        *_MEMBER_STATE,
        Field("assigned_partitions", _OWNED_PARTITIONS),
        Field("partitions_pending_revocation", _OWNED_PARTITIONS),
    ),
    9: _PARTITION_METADATA,
    10: struct(
        Field("rack_id", nullable_string),
        Field("client_id", string),
        Field("client_host", string),
        Field("subscribed_topic_names", _STRINGS),
    ),
    11: struct(Field("epoch", int32), Field("metadata_hash", int64)),
    12: _TARGET_ASSIGNMENT_METADATA,
    13: _TARGET_ASSIGNMENT,
    14: struct(*_MEMBER_STATE, Field("assigned_partitions", _TOPIC_PARTITIONS)),
    15: struct(
        Field("initializing_topics", _NAMED_PARTITIONS),
        Field("initialized_topics", _NAMED_PARTITIONS),
        Field("deleting_topics", array(struct(*_TOPIC))),
    ),
    16: struct(
        Field("topics", _STRINGS),
        Field("version", int64),
        Field("timestamp", int64),
    ),
    17: struct(
        Field("epoch", int32),
        Field("metadata_hash", int64),
        Field("validated_topology_epoch", int32, tag=0, default=-1),
        Field(
            "last_assignment_configs",
            nullable_array(struct(Field("key", string), Field("value", string))),
            tag=1,
        ),
    ),
    18: _PARTITION_METADATA,
    19: struct(
        Field("instance_id", nullable_string),
        Field("rack_id", nullable_string),
        Field("client_id", string),
        Field("client_host", string),
        Field("rebalance_timeout_ms", int32),
        Field("topology_epoch", int32),
        Field("process_id", string),
        Field("user_endpoint", nullable(struct(Field("host", string), Field("port", uint16)))),
        Field("client_tags", _NAME_AND_VALUE),
    ),
    20: _TARGET_ASSIGNMENT_METADATA,
    21: struct(
        Field("active_tasks", _TASKS),
        Field("standby_tasks", _TASKS),
        Field("warmup_tasks", _TASKS),
    ),
    22: struct(
        *_MEMBER_STATE,
        Field("active_tasks", _OWNED_TASKS),
        Field("standby_tasks", _OWNED_TASKS),
        Field("warmup_tasks", _OWNED_TASKS),
        Field("active_tasks_pending_revocation", _OWNED_TASKS),
        Field("standby_tasks_pending_revocation", _OWNED_TASKS),
        Field("warmup_tasks_pending_revocation", _OWNED_TASKS),
    ),
    23: struct(Field("epoch", int32), Field("subtopologies", _SUBTOPOLOGIES)),
    24: struct(
        Field("assignment_epoch", int32),
        Field(
            "resolved_topic_ids_by_subtopology",
            array(struct(Field("subtopology_id", string), Field("topic_ids", array(uuid)))),
        ),
    ),
}

# By key version: reads what follows the value's version.
READERS: dict[int, Reader] = {version: of("") for version, of in _VALUES.items()}


# By key version, for all kinds.
NEWEST_VALUES = {
    **dict.fromkeys(KINDS, NEWEST_VALUE),
    **dict.fromkeys(OFFSET_COMMIT, NEWEST_OFFSET_COMMIT),
    GROUP_METADATA: NEWEST_GROUP_METADATA,
}
NULL_KEY = Malformed("key: null where a key is needed", "key", 0)


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
        return GroupRecord(key, READERS[key.version](buffer))
    except MalformedRecord as error:
        return _malformed("value", error)


def _unknown_value(key_version: int, version: int) -> Skipped:
    kind = kind_name(key_version)
    reason = f"key version {key_version}: {kind} value of unknown version {version}"
    return Skipped(key_version, reason, version)


def _malformed(part: str, error: MalformedRecord) -> Malformed:
    return Malformed(f"{part}.{error.reason}", f"{part}.{error.field}", error.at)
