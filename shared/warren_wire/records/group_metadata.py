"""Classic groups: GroupMetadataKey version 2, GroupMetadataValue versions 0-4."""

from dataclasses import dataclass

from warren_wire.records.assignment import NO_ASSIGNMENT, read_assignment, read_subscription
from warren_wire.records.buffer import Buffer
from warren_wire.records.key import GroupMetadata, Member

REBALANCE_TIMEOUT_SINCE = 1
STATE_TIMESTAMP_SINCE = 2
INSTANCE_ID_SINCE = 3
FLEXIBLE_SINCE = 4
NEWEST_VALUE = 4
CONSUMER = "consumer"


@dataclass(frozen=True, slots=True)
class Header:
    """The fields before the members."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_at: int


def read_header(value: Buffer, version: int) -> Header:
    """Raises MalformedRecord."""
    compact = version >= FLEXIBLE_SINCE
    return Header(
        protocol_type=value.string("protocol_type", compact=compact),
        generation=value.int32("generation"),
        protocol=value.nullable_string("protocol", compact=compact),
        leader=value.nullable_string("leader", compact=compact),
        state_at=(
            value.int64("current_state_timestamp") if version >= STATE_TIMESTAMP_SINCE else -1
        ),
    )


def read_member(value: Buffer, version: int, protocol_type: str = CONSUMER) -> Member:
    """Raises MalformedRecord; assignments of other protocols than `consumer` are not looked at."""
    compact = version >= FLEXIBLE_SINCE
    member_id = value.string("member_id", compact=compact)
    instance_id = (
        value.nullable_string("group_instance_id", compact=compact)
        if version >= INSTANCE_ID_SINCE
        else None
    )
    client_id = value.string("client_id", compact=compact)
    host = value.string("client_host", compact=compact)
    rebalance = value.int32("rebalance_timeout") if version >= REBALANCE_TIMEOUT_SINCE else -1
    session = value.int32("session_timeout")
    subscription = value.bytes_("subscription", compact=compact)
    assignment = value.nested("assignment", compact=compact)
    if compact:
        value.tagged_fields("member.tagged_fields")
    assigned = read_assignment(assignment) if protocol_type == CONSUMER else NO_ASSIGNMENT
    return Member(
        member_id=member_id,
        instance_id=instance_id,
        client_id=client_id,
        host=host,
        rebalance_timeout_ms=rebalance,
        session_timeout_ms=session,
        subscription=subscription,
        assignment=assigned.partitions,
        user_data=assigned.user_data,
        subscribed=read_subscription(subscription) if protocol_type == CONSUMER else None,
    )


def read_group_metadata(group: str, value: Buffer, version: int) -> GroupMetadata:
    """Reads what follows the value's version, which is 0 to 4. Raises MalformedRecord."""
    header = read_header(value, version)
    count = value.count("members", compact=version >= FLEXIBLE_SINCE)
    members = tuple(read_member(value, version, header.protocol_type) for _ in range(count))
    if version >= FLEXIBLE_SINCE:
        value.last_tagged_fields()
    return GroupMetadata(
        group=group,
        protocol_type=header.protocol_type,
        generation=header.generation,
        protocol=header.protocol,
        leader=header.leader,
        state_at=header.state_at,
        members=members,
    )
