from uuid import UUID

import numpy as np
import pytest
import support.coordinator_records as encode
from hypothesis import given
from hypothesis import strategies as st
from support.whole_records import OffsetCommit, decode_record
from warren_wire.records import Malformed, Skipped
from warren_wire.records.offset_commit import (
    LAYOUTS,
    WORTH_COLUMNS,
    decode_commit_values,
)

KEY = encode.offset_key("g", "t", 0)
INT64 = st.integers(-(2**63), 2**63 - 1)
COMMITS = st.builds(
    encode.offset_value,
    INT64,
    INT64,
    version=st.integers(0, 4),
    metadata=st.sampled_from(["", "m", "é", "x" * 126, "x" * 127, "x" * 300]),
    topic_id=st.sampled_from([None, UUID(int=7)]),
)
BYTES = st.binary(max_size=50)
DAMAGED = st.tuples(COMMITS, st.integers(0, 60), st.integers(0, 255)).map(
    lambda c: c[0][: c[1]] + bytes([c[2]]) + c[0][c[1] + 1 :]
)


@given(
    st.lists(COMMITS | BYTES | DAMAGED, max_size=12),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_together_is_as_alone(values: list[bytes], times: int, random: object) -> None:
    many = values * times
    random.shuffle(many)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    columns = decode_commit_values(many)
    decoded = zip(many, columns.offset, columns.committed_at, columns.decoded, strict=True)
    for value, offset, committed_at, is_decoded in decoded:
        if is_decoded:
            (record,) = decode_record(KEY, value)
            assert isinstance(record, OffsetCommit)
            assert (record.offset, record.timestamp_ms) == (offset, committed_at)


def test_layouts_of_equal_length_are_told_apart() -> None:
    third = [encode.offset_value(n, n, version=3) for n in range(20)]
    fourth = [encode.offset_value(n, n, version=4) for n in range(20)]
    assert len(third[0]) == len(fourth[0])
    columns = decode_commit_values([*third, *fourth])
    assert columns.decoded.all()
    assert columns.offset.tolist() == [*range(20), *range(20)]


UNTAGGED = encode.offset_value(1, 1, version=4)
TAGGED = encode.offset_value(1, 1, version=4, topic_id=UUID(int=7))


@pytest.mark.parametrize(
    "value",
    [
        b"\0\3\0",
        b"",
        b"\0\4" + b"\xff" * 40,
        UNTAGGED[:-1] + b"\5",  # five tagged fields, but nothing follows
        TAGGED[:-17] + b"\x11" + TAGGED[-16:],  # a topic id of 17 bytes
        TAGGED[:-19] + b"\2" + TAGGED[-18:],  # two tagged fields, but one is there
    ],
)
def test_what_is_not_decoded_is_malformed_or_unknown(value: bytes) -> None:
    assert not decode_commit_values([value] * WORTH_COLUMNS).decoded.any()
    (record,) = decode_record(KEY, value)
    assert isinstance(record, Malformed | Skipped)


def test_every_version_has_a_layout() -> None:
    assert {layout.version for layout in LAYOUTS} == set(range(5))
    assert np.iinfo(np.uint8).max > max(layout.version for layout in LAYOUTS)
