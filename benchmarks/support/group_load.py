"""Records about groups, as the coordinator writes them between the commits."""

import struct
import time
import uuid
from collections.abc import Iterator

MEMBERS = 4  # of a group
TOPIC_ID = uuid.UUID(int=7)
GENERATIONS = 50  # differing values per group

_Record = tuple[bytes, bytes | None]


def group_records(group: str, topic: str, partitions: int) -> Iterator[list[_Record]]:
    """Rebalance after rebalance of one group: every other group is classic, the rest KIP-848."""
    is_classic = group.endswith(("0", "2", "4", "6", "8"))
    generation = 0
    while True:
        generation = generation % GENERATIONS + 1
        if is_classic:
            yield [_classic(group, topic, partitions, generation)]
        else:
            yield _consumer(group, topic, partitions, generation)


def _classic(group: str, topic: str, partitions: int, generation: int) -> _Record:
    """GroupMetadata version 3."""
    value = struct.pack(">h", 3) + _string("consumer") + struct.pack(">i", generation)
    value += _string("range") + _string(_member(0)) + struct.pack(">q", _now())
    value += struct.pack(">i", MEMBERS)
    wanted = struct.pack(">hi", 1, 1) + _string(topic) + struct.pack(">ii", -1, 0)
    for number in range(MEMBERS):
        assigned = struct.pack(">hi", 1, 1) + _string(topic)
        assigned += _int32s(">i", 0, _share(number, partitions)) + struct.pack(">i", -1)
        value += _string(_member(number)) + struct.pack(">h", -1)
        value += _string("billing-app") + _string("/10.0.0.1") + struct.pack(">ii", 300_000, 45_000)
        value += struct.pack(">i", len(wanted)) + wanted
        value += struct.pack(">i", len(assigned)) + assigned
    return struct.pack(">h", 2) + _string(group), value


def _consumer(group: str, topic: str, partitions: int, epoch: int) -> list[_Record]:
    """A member leaves and joins again: tombstones, then what each member has now."""
    of_group = _string(group)
    first = of_group + _string(_member(0))
    records: list[_Record] = [(struct.pack(">h", kind) + first, None) for kind in (8, 7, 5)]
    metadata = b"\0\0" + b"\0\0" + _compact("billing-app") + _compact("/10.0.0.1")
    metadata += b"\2" + _compact(topic) + b"\0" + struct.pack(">i", 300_000) + b"\0" + b"\1\0\1\0"
    records.append((struct.pack(">h", 5) + first, metadata))
    records.append((struct.pack(">h", 3) + of_group, struct.pack(">hib", 0, epoch, 0)))
    for number in range(MEMBERS):
        key = of_group + _string(_member(number))
        share = b"\2" + TOPIC_ID.bytes + _int32s(">B", 1, _share(number, partitions)) + b"\0"
        records.append((struct.pack(">h", 7) + key, b"\0\0" + share + b"\0"))
        current = struct.pack(">hiib", 0, epoch, epoch - 1, 0) + share + b"\1\0"
        records.append((struct.pack(">h", 8) + key, current))
    target = struct.pack(">hi", 0, epoch) + b"\1\0\10" + struct.pack(">q", _now())
    return [*records, (struct.pack(">h", 6) + of_group, target)]


def _member(number: int) -> str:
    return f"billing-app-{number}-9c0a1ff2-6a3b-4f43-8f0e-2d7b5d4c1e0{number}"


def _share(number: int, partitions: int) -> range:
    each = partitions // MEMBERS
    return range(number * each, (number + 1) * each)


def _int32s(count: str, more: int, numbers: range) -> bytes:
    return struct.pack(f">{count[1]}{len(numbers)}i", len(numbers) + more, *numbers)


def _string(text: str) -> bytes:
    content = text.encode()
    return struct.pack(">h", len(content)) + content


def _compact(text: str) -> bytes:
    content = text.encode()
    return bytes([len(content) + 1]) + content


def _now() -> int:
    return time.time_ns() // 1_000_000
