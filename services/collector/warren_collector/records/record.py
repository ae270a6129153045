"""What a coordinator record can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


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
class Member:
    """A member of a classic group.

    `subscription` is raw and `assignment` empty where the group's protocol is not `consumer`.
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
class GroupDeleted:
    """A classic group is gone."""

    group: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is valid, as far as can be told, and of no interest or of an unknown kind."""

    key_version: int
    reason: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that contradict the schema. `field` is `key.…` or `value.…`, `at` its byte there."""

    reason: str
    field: str
    at: int


Record = OffsetCommit | OffsetDeleted | GroupMetadata | GroupDeleted | Skipped | Malformed
