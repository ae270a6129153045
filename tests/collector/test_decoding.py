import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
import support.coordinator_records as encode
from hypothesis import given, strategies as st
from support.whole_records import (
    GroupDeleted,
    GroupRecordDeleted,
    OffsetCommit,
    OffsetDeleted,
    Record,
    decode_record,
)
from warren.errors import MalformedRecord
from warren_wire.records import (
    KINDS,
    GroupKey,
    GroupMetadata,
    GroupRecord,
    Malformed,
    Member,
    Skipped,
)
from warren_wire.records.buffer import MAX_STRING_BYTES, Buffer

KEY = encode.offset_key("billing", "orders", 3)
MODERN_KEYS = [
    encode.part_key(version, "g", "part" if kind.part else None)
    for version, kind in KINDS.items()
    if version > 2
]


def only(records: list[Record]) -> Record:
    (record,) = records
    return record


@given(st.none() | st.binary(max_size=200), st.none() | st.binary(max_size=200))
def test_any_bytes_give_a_record(key: bytes | None, value: bytes | None) -> None:
    assert isinstance(only(decode_record(key, value)), Record)


@given(st.integers(-(2**15), 2**15 - 1), st.binary(max_size=60), st.binary(max_size=60))
def test_any_key_version_gives_a_record(version: int, key: bytes, value: bytes) -> None:
    assert isinstance(only(decode_record(struct.pack(">h", version) + key, value)), Record)


@given(
    st.sampled_from([KEY, encode.group_key("g"), *MODERN_KEYS]),
    st.integers(0, 4),
    st.binary(max_size=120),
)
def test_any_value_of_a_known_version_gives_a_record(key: bytes, version: int, rest: bytes) -> None:
    record = only(decode_record(key, struct.pack(">h", version) + rest))
    known = OffsetCommit | GroupMetadata | GroupRecord | Malformed
    assert isinstance(record, known if version == 0 or key not in MODERN_KEYS else Skipped)


@pytest.mark.parametrize("version", range(5))
def test_every_truncation_of_a_commit_is_malformed(version: int) -> None:
    value = encode.offset_value(7, 1637, version=version, metadata="m", topic_id=UUID(int=9))
    whole = len(value) - (1 + 1 + 1 + 16 if version == 4 else 0)  # v4: its tagged fields
    for size in range(whole):
        record = only(decode_record(KEY, value[:size]))
        assert isinstance(record, Malformed)
        assert record.at <= size


def test_a_flexible_value_may_end_before_its_tagged_fields_but_not_within() -> None:
    value = encode.offset_value(7, 1637, version=4, topic_id=UUID(int=9))
    ended = only(decode_record(KEY, value[:-19]))
    assert ended == OffsetCommit("billing", "orders", 3, 7, 1637, -1, "", None)
    for size in range(len(value) - 18, len(value)):
        assert isinstance(only(decode_record(KEY, value[:size])), Malformed)


def test_a_topic_id_of_the_wrong_size_is_malformed() -> None:
    value = encode.offset_value(7, 1637, version=4)[:-1] + encode.tagged_fields({0: b"short"})
    assert only(decode_record(KEY, value)) == Malformed(
        "value.topic_id: 16 bytes needed, 5 left", "value.topic_id", 26
    )


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (None, b"", "key: null where a key is needed"),
        (b"", b"", "key.version: 2 bytes needed, 0 left"),
        (b"\0", b"", "key.version: 2 bytes needed, 1 left"),
        (KEY, b"", "value.version: 2 bytes needed, 0 left"),
        (KEY[:-1], None, "key.partition: 4 bytes needed, 3 left"),
        (b"\0\1\xff\xff", None, "key.group: null where a string is needed"),
        (encode.group_key("g")[:-1], None, "key.group: 1 bytes needed, 0 left"),
        (encode.part_key(3, "g", "m"), None, "key.end: 3 bytes after the last field"),
    ],
)
def test_malformed_says_where(key: bytes | None, value: bytes | None, reason: str) -> None:
    record = only(decode_record(key, value))
    assert isinstance(record, Malformed)
    assert record.reason == reason
    assert reason.startswith(record.field)


def test_tombstones() -> None:
    assert only(decode_record(KEY, None)) == OffsetDeleted("billing", "orders", 3)
    assert only(decode_record(encode.group_key("billing"), None)) == GroupDeleted("billing")
    deleted = only(decode_record(encode.part_key(16, "billing", "a.*"), None))
    assert deleted == GroupRecordDeleted(GroupKey(16, "billing", "a.*"))


@pytest.mark.parametrize("key", [KEY, encode.group_key("g"), encode.part_key(8, "g", "m")])
@pytest.mark.parametrize("version", [-1, 5, 999])
def test_unknown_value_versions_are_skipped(key: bytes, version: int) -> None:
    record = only(decode_record(key, struct.pack(">h", version) + b"?" * 50))
    assert isinstance(record, Skipped)
    assert record.reason.endswith(f"value of unknown version {version}")
    assert (record.key_version, record.value_version) == (key[1], version)


def test_a_subscription_that_cannot_be_read_is_kept_as_it_is() -> None:
    """The broker stores what clients send it, and so does not refuse it either."""
    assigned = encode.assignment({"orders": [1]})
    value = encode.group_value(GroupMetadata("g", "consumer", 1, "range", "m", 0, ()), 3)[:-4]
    value += struct.pack(">i", 1)
    value += encode.member(Member("m", "i", "c", "h", 1, 2, b"\0\1\0", {}, None), assigned, 3)
    record = only(decode_record(encode.group_key("g"), value))
    assert isinstance(record, GroupMetadata)
    assert record.members[0].subscription == b"\0\1\0"
    assert record.members[0].subscribed is None
    assert record.members[0].assignment == {"orders": [1]}


READS: dict[str, Callable[[Buffer], Any]] = {
    "int16": lambda b: b.int16("f"),
    "int32": lambda b: b.int32("f"),
    "int64": lambda b: b.int64("f"),
    "varint": lambda b: b.varint("f"),
    "uuid": lambda b: b.uuid("f"),
    "string": lambda b: b.string("f"),
    "compact_string": lambda b: b.string("f", compact=True),
    "nullable_string": lambda b: b.nullable_string("f"),
    "bytes": lambda b: b.bytes_("f"),
    "compact_bytes": lambda b: b.bytes_("f", compact=True),
    "nested": lambda b: b.nested("f"),
    "count": lambda b: b.count("f"),
    "compact_count": lambda b: b.count("f", compact=True),
    "int32s": lambda b: b.int32s("f"),
    "tagged_fields": lambda b: b.tagged_fields("f"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
@given(content=st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(read: Callable[[Buffer], Any], content: bytes) -> None:
    buffer = Buffer(content)
    refusal = None
    try:
        read(buffer)
    except MalformedRecord as error:
        refusal = error
    assert buffer.remaining >= 0
    if refusal is not None:
        assert refusal.field.startswith("f")
        assert 0 <= refusal.at <= len(content)


def test_a_string_is_at_most_as_long_as_kafka_allows() -> None:
    longest = "x" * MAX_STRING_BYTES
    assert Buffer(encode.string(longest, compact=True)).string("f", compact=True) == longest
    with pytest.raises(MalformedRecord, match="too long"):
        Buffer(encode.string(longest + "x", compact=True)).string("f", compact=True)


def test_nested_errors_have_positions_of_the_whole() -> None:
    buffer = Buffer(b"\0\7" + encode.sized_bytes(b"\0\1\0"))
    buffer.int16("first")
    nested = buffer.nested("outer")
    nested.int16("inner")
    with pytest.raises(MalformedRecord) as raised:
        nested.int16("last")
    assert (raised.value.field, raised.value.at) == ("last", 8)
