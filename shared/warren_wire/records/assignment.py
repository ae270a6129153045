"""The consumer protocol's assignment and subscription, versions 0-3 and later ones.

Kafka reads a version newer than it knows as its newest, since fields are only ever appended
(clients/src/main/resources/common/message/ConsumerProtocol….json); versions 0 to 3 of an assignment
have the same fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from warren.errors import MalformedRecord

from warren_wire.records.buffer import Buffer

OWNED_PARTITIONS_SINCE = 1
GENERATION_SINCE = 2
RACK_SINCE = 3
_UNKNOWN_GENERATION = -1


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


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member wants. `owned` are the partitions that it held when it asked.

    `generation` -1 and `rack` None where the version has none.
    """

    topics: tuple[str, ...] = ()
    user_data: bytes | None = None
    owned: Mapping[str, list[int]] = field(default_factory=dict)
    generation: int = _UNKNOWN_GENERATION
    rack: str | None = None


def read_subscription(content: bytes) -> Subscription | None:
    """None for bytes that are no subscription: the broker stores whatever a client sent it."""
    try:
        return _read(Buffer(content))
    except MalformedRecord:
        return None


def _read(buffer: Buffer) -> Subscription:
    version = buffer.int16("version")
    if version < 0:
        raise MalformedRecord(f"version: {version} is not a version", field="version", at=0)
    topics = tuple(buffer.string("topic") for _ in range(buffer.count("topics")))
    user_data = buffer.nullable_bytes("user_data")
    owned = {}
    if version >= OWNED_PARTITIONS_SINCE:
        owned = read_topic_partitions(buffer, "owned")
    return Subscription(
        topics=topics,
        user_data=user_data,
        owned=owned,
        generation=(
            buffer.int32("generation") if version >= GENERATION_SINCE else _UNKNOWN_GENERATION
        ),
        rack=buffer.nullable_string("rack") if version >= RACK_SINCE else None,
    )
