"""What a coordinator record can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from warren_wire.records.assignment import Subscription
from warren_wire.records.key import KINDS, GroupKey


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
    unknown_tags: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class OffsetDeleted:
    """A committed offset was deleted, or it expired."""

    group: str
    topic: str
    partition: int


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
    unknown_tags: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class GroupDeleted:
    """A classic group is gone."""

    group: str


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A record about a consumer (KIP-848), share or streams group.

    `fields` are those of Kafka's schema, by name in snake case; topic ids are UUIDs.
    """

    key: GroupKey
    fields: Mapping[str, Any]
    unknown_tags: int = field(default=0, compare=False)

    @property
    def kind(self) -> str:
        """Kafka's name of the schema, without Key or Value."""
        return KINDS[self.key.version].name


@dataclass(frozen=True, slots=True)
class GroupRecordDeleted:
    """A tombstone: what such a record said does not hold any more."""

    key: GroupKey

    @property
    def kind(self) -> str:
        return KINDS[self.key.version].name


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
