"""The leading int16 of every key says what the record is; then come the group and, perhaps, a part.

Kafka's CoordinatorRecordType. The schemas of keys have one version each, which is not flexible.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from warren.errors import MalformedRecord

from warren_wire.records.assignment import Subscription
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


# What a coordinator record can be.


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a classic group.

    `subscription` is as the member sent it; `subscribed` what it says, None where that cannot be
    told, as in groups whose protocol type is not `consumer`: their `assignment` is empty, too.
    Timeouts in milliseconds; `rebalance_timeout_ms` is -1 in version 0, which has none.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: Mapping[str, list[int]]
    user_data: bytes | None
    subscribed: Subscription | None = None


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """State of a classic group. `state_at` in Unix milliseconds, -1 before version 2."""

    group: str
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_at: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A record about a consumer (KIP-848), share or streams group.

    `fields` are those of Kafka's schema, by name in snake case; topic ids are UUIDs.
    """

    key: GroupKey
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is valid, as far as can be told, and of an unknown kind or version.

    `value_version` is None where the key's version says nothing about the value.
    """

    key_version: int
    reason: str
    value_version: int | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that contradict the schema. `field` is `key.…` or `value.…`, `at` its byte there."""

    reason: str
    field: str
    at: int
