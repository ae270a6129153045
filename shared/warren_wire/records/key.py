"""The leading int16 of every key says what the record is; then come the group and, perhaps, a part.

Kafka's CoordinatorRecordType. The schemas of keys have one version each, which is not flexible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from warren.errors import MalformedRecord

from warren_wire.records.buffer import Buffer

OFFSET_COMMIT = frozenset({0, 1})
GROUP_METADATA = 2
_MEMBER = "member_id"


@dataclass(frozen=True, slots=True)
class KeyKind:
    """`part` is what the key names besides the group, if anything."""

    name: str
    part: str = ""


# Kafka 4.3, and what was there before (9 and 18, withdrawn before 4.2) and comes after it (24).
KINDS = {
    0: KeyKind("LegacyOffsetCommit"),
    1: KeyKind("OffsetCommit"),
    2: KeyKind("GroupMetadata"),
    3: KeyKind("ConsumerGroupMetadata"),
    4: KeyKind("ConsumerGroupPartitionMetadata"),
    5: KeyKind("ConsumerGroupMemberMetadata", _MEMBER),
    6: KeyKind("ConsumerGroupTargetAssignmentMetadata"),
    7: KeyKind("ConsumerGroupTargetAssignmentMember", _MEMBER),
    8: KeyKind("ConsumerGroupCurrentMemberAssignment", _MEMBER),
    9: KeyKind("ShareGroupPartitionMetadata"),
    10: KeyKind("ShareGroupMemberMetadata", _MEMBER),
    11: KeyKind("ShareGroupMetadata"),
    12: KeyKind("ShareGroupTargetAssignmentMetadata"),
    13: KeyKind("ShareGroupTargetAssignmentMember", _MEMBER),
    14: KeyKind("ShareGroupCurrentMemberAssignment", _MEMBER),
    15: KeyKind("ShareGroupStatePartitionMetadata"),
    16: KeyKind("ConsumerGroupRegularExpression", "regular_expression"),
    17: KeyKind("StreamsGroupMetadata"),
    18: KeyKind("StreamsGroupPartitionMetadata"),
    19: KeyKind("StreamsGroupMemberMetadata", _MEMBER),
    20: KeyKind("StreamsGroupTargetAssignmentMetadata"),
    21: KeyKind("StreamsGroupTargetAssignmentMember", _MEMBER),
    22: KeyKind("StreamsGroupCurrentMemberAssignment", _MEMBER),
    23: KeyKind("StreamsGroupTopology"),
    24: KeyKind("StreamsGroupTargetAssignmentResolvedTopicIds"),
}
_OFFSET_KEYS = tuple(version.to_bytes(2, "big") for version in OFFSET_COMMIT)
# Key versions whose records say what a group is; those of offsets are the others.
GROUP_KINDS = frozenset(KINDS) - OFFSET_COMMIT


class GroupKey(NamedTuple):
    """The key of a record about a group. `part` is a member id, a regular expression or empty."""

    version: int
    group: str
    part: str = ""


def is_group_key(key: bytes | None) -> bool:
    """Whether a key is of another kind than a committed offset, known or not."""
    return key is not None and len(key) > 1 and not key.startswith(_OFFSET_KEYS)


def read_key_version(key: Buffer) -> int:
    """Raises MalformedRecord when the key has not even a version."""
    return key.int16("version")


def read_group_key(key: Buffer, version: int) -> GroupKey:
    """What follows the version of a GROUP_KINDS key. Raises MalformedRecord."""
    group = key.string("group")
    name = KINDS[version].part
    part = key.string(name) if name else ""
    if version > GROUP_METADATA and key.remaining:
        # Keys are identities: with more in it, this is not the record that it claims to be.
        raise MalformedRecord(
            f"end: {key.remaining} bytes after the last field", field="end", at=key.at
        )
    return GroupKey(version, group, part)


def kind_name(key_version: int) -> str:
    kind = KINDS.get(key_version)
    return "unknown kind" if kind is None else kind.name
