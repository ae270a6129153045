"""Decoding of the group coordinator's records (`__consumer_offsets`): pure, bytes in, records out.

Field layouts are those of Kafka's schema files, group-coordinator/src/main/resources/common/message
(checked against Kafka 4.3.0).
"""

from warren_wire.records.assignment import (
    Subscription,
    read_assignment,
    read_subscription,
)
from warren_wire.records.buffer import Buffer
from warren_wire.records.decoding import (
    NEWEST_VALUES,
    NULL_KEY,
    decode_group_value,
    decode_offset_value,
    malformed_key,
)
from warren_wire.records.group_metadata import CONSUMER
from warren_wire.records.key import (
    GROUP_METADATA,
    KINDS,
    OFFSET_COMMIT,
    GroupKey,
    GroupMetadata,
    GroupRecord,
    Malformed,
    Member,
    Skipped,
    is_group_key,
    kind_name,
    read_group_key,
    read_key_version,
)
from warren_wire.records.offset_commit import (
    OffsetCommitKey,
    OffsetCommitValue,
    decode_commit_values,
    ends_with_partition,
    read_offset_commit_key,
    split_offset_commit_key,
)

__all__ = [
    "CONSUMER",
    "GROUP_METADATA",
    "KINDS",
    "NEWEST_VALUES",
    "NULL_KEY",
    "OFFSET_COMMIT",
    "Buffer",
    "GroupKey",
    "GroupMetadata",
    "GroupRecord",
    "Malformed",
    "Member",
    "OffsetCommitKey",
    "OffsetCommitValue",
    "Skipped",
    "Subscription",
    "decode_commit_values",
    "decode_group_value",
    "decode_offset_value",
    "ends_with_partition",
    "is_group_key",
    "kind_name",
    "malformed_key",
    "read_assignment",
    "read_group_key",
    "read_key_version",
    "read_offset_commit_key",
    "read_subscription",
    "split_offset_commit_key",
]
