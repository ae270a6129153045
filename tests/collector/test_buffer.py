from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
import support.coordinator_records as encode
from hypothesis import given
from hypothesis import strategies as st
from warren.errors import MalformedRecord
from warren_wire.records.buffer import MAX_INT32, MAX_STRING_BYTES, Buffer

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


@given(st.integers(0, MAX_INT32))
def test_varints_round_trip(number: int) -> None:
    assert Buffer(encode.varint(number)).varint("f") == number


@given(st.text(max_size=40), st.booleans())
def test_strings_round_trip(text: str, compact: bool) -> None:
    assert Buffer(encode.string(text, compact)).string("f", compact=compact) == text


@given(st.none() | st.binary(max_size=40), st.booleans())
def test_bytes_round_trip(content: bytes | None, compact: bool) -> None:
    encoded = encode.sized_bytes(content, compact)
    assert Buffer(encoded).nullable_bytes("f", compact=compact) == content


@given(st.dictionaries(st.integers(0, 1000), st.binary(max_size=20), max_size=5))
def test_tagged_fields_round_trip(tags: dict[int, bytes]) -> None:
    encoded = encode.tagged_fields(tags)
    read = Buffer(encoded).tagged_fields()
    found = {tag: encoded[b.at : b.at + b.remaining] for tag, b in read.items()}
    assert found == tags


@pytest.mark.parametrize(
    ("content", "read", "problem"),
    [
        ("ff" * 5, "varint", "longer than 5 bytes"),
        ("ffffffff0f", "varint", "does not fit 31 bits"),
        ("ff", "varint", "cut off"),
        ("ffff", "string", "null where a string is needed"),
        ("00", "compact_string", "null where a string is needed"),
        ("fffe", "nullable_string", "negative length -2"),
        ("0002c328", "string", "not UTF-8"),
        ("ffffffff", "bytes", "null where bytes are needed"),
        ("7fffffff", "bytes", "2147483647 bytes needed, 0 left"),
        ("7fffffff", "count", "2147483647 elements, 0 bytes left"),
        ("ffffffff", "count", "negative count"),
        ("00", "compact_count", "null or a negative count"),
    ],
)
def test_refusals_say_why(content: str, read: str, problem: str) -> None:
    with pytest.raises(MalformedRecord, match=problem):
        READS[read](Buffer(bytes.fromhex(content)))


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


def test_uuid() -> None:
    topic_id = UUID("12345678-1234-5678-1234-567812345678")
    assert Buffer(topic_id.bytes).uuid("f") == topic_id
