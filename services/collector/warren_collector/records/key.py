"""The leading int16 of every key says what the record is."""

from __future__ import annotations

from warren_collector.records.buffer import Buffer

OFFSET_COMMIT = frozenset({0, 1})
GROUP_METADATA = 2

# Kinds that exist, by key version (Kafka 4.3, CoordinatorRecordType; 9 and 18 were withdrawn).
KIND_NAMES = {
    0: "LegacyOffsetCommit",
    1: "OffsetCommit",
    2: "GroupMetadata",
    3: "ConsumerGroupMetadata",
    4: "ConsumerGroupPartitionMetadata",
    5: "ConsumerGroupMemberMetadata",
    6: "ConsumerGroupTargetAssignmentMetadata",
    7: "ConsumerGroupTargetAssignmentMember",
    8: "ConsumerGroupCurrentMemberAssignment",
    9: "ShareGroupPartitionMetadata",
    10: "ShareGroupMemberMetadata",
    11: "ShareGroupMetadata",
    12: "ShareGroupTargetAssignmentMetadata",
    13: "ShareGroupTargetAssignmentMember",
    14: "ShareGroupCurrentMemberAssignment",
    15: "ShareGroupStatePartitionMetadata",
    16: "ConsumerGroupRegularExpression",
    17: "StreamsGroupMetadata",
    18: "StreamsGroupPartitionMetadata",
    19: "StreamsGroupMemberMetadata",
    20: "StreamsGroupTargetAssignmentMetadata",
    21: "StreamsGroupTargetAssignmentMember",
    22: "StreamsGroupCurrentMemberAssignment",
    23: "StreamsGroupTopology",
}


def read_key_version(key: Buffer) -> int:
    """Raises MalformedRecord when the key has not even a version."""
    return key.int16("version")


def kind_name(key_version: int) -> str:
    return KIND_NAMES.get(key_version, "unknown kind")
