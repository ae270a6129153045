"""An encoder of coordinator records, written from Kafka's schemas: the decoder's counterpart."""

import struct
from uuid import UUID

from warren_wire.records import GroupMetadata, Member


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def string(text: str | None, compact: bool = False) -> bytes:
    if text is None:
        return varint(0) if compact else struct.pack(">h", -1)
    content = text.encode()
    size = varint(len(content) + 1) if compact else struct.pack(">h", len(content))
    return size + content


def sized_bytes(content: bytes | None, compact: bool = False) -> bytes:
    if content is None:
        return varint(0) if compact else struct.pack(">i", -1)
    size = varint(len(content) + 1) if compact else struct.pack(">i", len(content))
    return size + content


def tagged_fields(tags: dict[int, bytes]) -> bytes:
    encoded = varint(len(tags))
    for tag, content in sorted(tags.items()):
        encoded += varint(tag) + varint(len(content)) + content
    return encoded


def offset_key(group: str, topic: str, partition: int, version: int = 1) -> bytes:
    return struct.pack(">h", version) + string(group) + string(topic) + struct.pack(">i", partition)


def offset_value(
    offset: int,
    timestamp_ms: int,
    *,
    version: int = 3,
    leader_epoch: int = -1,
    metadata: str = "",
    topic_id: UUID | None = None,
    expires_at: int = -1,
) -> bytes:
    flexible = version >= 4
    value = struct.pack(">hq", version, offset)
    if version >= 3:
        value += struct.pack(">i", leader_epoch)
    value += string(metadata, flexible) + struct.pack(">q", timestamp_ms)
    if version == 1:
        value += struct.pack(">q", expires_at)
    if flexible:
        value += tagged_fields({} if topic_id is None else {0: topic_id.bytes})
    return value


def group_key(group: str) -> bytes:
    return struct.pack(">h", 2) + string(group)


def part_key(version: int, group: str, part: str | None = None) -> bytes:
    """Of a record about a group or, with `part`, about one of its members or expressions."""
    key = struct.pack(">h", version) + string(group)
    return key if part is None else key + string(part)


def assignment(
    partitions: dict[str, list[int]], user_data: bytes | None = None, version: int = 1
) -> bytes:
    encoded = struct.pack(">hi", version, len(partitions))
    for topic, numbers in partitions.items():
        encoded += string(topic) + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return encoded + sized_bytes(user_data)


def member(one: Member, assigned: bytes, version: int) -> bytes:
    compact = version >= 4
    encoded = string(one.member_id, compact)
    if version >= 3:
        encoded += string(one.instance_id, compact)
    encoded += string(one.client_id, compact) + string(one.host, compact)
    if version >= 1:
        encoded += struct.pack(">i", one.rebalance_timeout_ms)
    encoded += struct.pack(">i", one.session_timeout_ms)
    encoded += sized_bytes(one.subscription, compact) + sized_bytes(assigned, compact)
    return encoded + (tagged_fields({}) if compact else b"")


def group_value(group: GroupMetadata, version: int) -> bytes:
    compact = version >= 4
    value = struct.pack(">h", version) + string(group.protocol_type, compact)
    value += struct.pack(">i", group.generation)
    value += string(group.protocol, compact) + string(group.leader, compact)
    if version >= 2:
        value += struct.pack(">q", group.state_at)
    count = len(group.members)
    value += varint(count + 1) if compact else struct.pack(">i", count)
    for one in group.members:
        value += member(one, assignment(dict(one.assignment), one.user_data), version)
    return value + (tagged_fields({}) if compact else b"")
