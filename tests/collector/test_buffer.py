from collections.abc import Callable
from typing import Any

import pytest
import support.coordinator_records as encode
from hypothesis import given
from hypothesis import strategies as st
from warren.errors import MalformedRecord
from warren_wire.records.buffer import MAX_STRING_BYTES, Buffer

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
