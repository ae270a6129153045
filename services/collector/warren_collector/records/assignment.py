"""The consumer protocol's assignment: ConsumerProtocolAssignment versions 0-3 and later ones.

Kafka reads a version newer than it knows as its newest, since fields are only ever appended
(clients/src/main/resources/common/message/ConsumerProtocolAssignment.json); versions 0 to 3 have
the same fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warren.errors import MalformedRecord

from warren_collector.records.buffer import Buffer


@dataclass(frozen=True, slots=True)
class Assignment:
    """Partitions by topic, and what the assignor keeps for itself."""

    partitions: Mapping[str, list[int]] = field(default_factory=dict)
    user_data: bytes | None = None


NO_ASSIGNMENT = Assignment()


def read_assignment(buffer: Buffer) -> Assignment:
    """Raises MalformedRecord. No bytes at all: a member that has not been assigned anything yet."""
    if not buffer.remaining:
        return NO_ASSIGNMENT
    at = buffer.at
    version = buffer.int16("assignment.version")
    if version < 0:
        raise MalformedRecord(
            f"assignment.version: {version} is not a version", field="assignment.version", at=at
        )
    return read_assignment_body(buffer)


def read_assignment_body(buffer: Buffer) -> Assignment:
    """Reads what follows the version. Raises MalformedRecord."""
    partitions = read_topic_partitions(buffer, "assignment")
    return Assignment(partitions, buffer.nullable_bytes("assignment.user_data"))


def read_topic_partitions(buffer: Buffer, field: str) -> dict[str, list[int]]:
    """Partitions by topic. Raises MalformedRecord."""
    partitions: dict[str, list[int]] = {}
    for _ in range(buffer.count(f"{field}.topics")):
        topic = buffer.string(f"{field}.topic")
        partitions.setdefault(topic, []).extend(buffer.int32s(f"{field}.partitions"))
    return partitions
