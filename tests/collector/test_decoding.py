import struct
from uuid import UUID

import pytest
import support.coordinator_records as encode
from hypothesis import given
from hypothesis import strategies as st
from support.whole_records import (
    GroupDeleted,
    GroupRecordDeleted,
    OffsetCommit,
    OffsetDeleted,
    Record,
    decode_record,
)
from warren_wire.records import GroupMetadata, GroupRecord, Malformed, Member, Skipped
from warren_wire.records.key import KINDS, GroupKey

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
