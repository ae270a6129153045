"""What all positions share: rows, due groups, what publishing and releasing does to them."""

from uuid import UUID

import numpy as np
import pytest
import support.coordinator_records as encode
from hypothesis import given, strategies as st
from support.coordinator_batches import batch
from support.recorded_positions import commit_counts, commits, committed, recorded_positions
from support.whole_records import OffsetCommit, decode_record
from warren_collector.positions.earlier_commits import KEPT, EarlierCommits
from warren_wire.records import Malformed, Skipped, decode_commit_values
from warren_wire.records.offset_commit import LAYOUTS, WORTH_COLUMNS


def test_groups_grow() -> None:
    positions = recorded_positions()
    for number in range(3000):
        positions.fold(batch(commits(f"group-{number}", 1)))
    assert len(positions.groups) == 3000
    assert len(positions.groups.due(-np.inf)) == 3000


def test_a_released_partition_is_forgotten_and_the_others_stay() -> None:
    positions = recorded_positions(lambda group: group != "denied")
    both = [*commits("a", 2), *commits("b", 2), *commits("denied", 2)]
    positions.fold(batch(both, partition=[0, 0, 1, 1, 1, 1]))
    positions.release([1])
    assert {key[0] for key in committed(positions)} == {"a"}
    assert len(positions) == 2
    assert positions.fold(batch(both, partition=[0, 0, 1, 1, 1, 1])).commits == 4
    assert commit_counts(positions) == {
        ("a", "orders", 0): 2,
        ("a", "orders", 1): 2,
        ("b", "orders", 0): 1,
        ("b", "orders", 1): 1,
    }


def test_due_are_dirty_groups_and_those_whose_heartbeat_is_over() -> None:
    positions = recorded_positions()
    positions.fold(batch(commits("a", 1)))
    positions.fold(batch(commits("b", 1), counted=[False]))
    a, b = positions.groups.due(-np.inf)
    positions.published([a, b], [], at=100.0)
    assert positions.groups.due(99.9) == []
    positions.fold(batch(commits("b", 1)))
    assert positions.groups.due(99.9) == [b]
    assert positions.groups.due(100.0) == [a, b]


def test_publishing_resets_the_counts_of_the_published_rows() -> None:
    positions = recorded_positions()
    positions.fold(batch(commits("a", 3)))
    (group,) = positions.groups
    positions.published([group], [group.topics["orders"].rows(2)], at=1.0)
    assert commit_counts(positions) == {("a", "orders", 2): 1}
    assert committed(positions)["a", "orders", 0] == (0, 1000)


def test_a_deleted_group_stays_until_its_deletion_is_published() -> None:
    positions = recorded_positions()
    records = commits("a", 1)
    positions.fold(batch([*records, (records[0][0], None)]))
    (group,) = positions.groups.due(np.inf)
    assert group.is_empty
    assert group.deletions() == {"orders": [0]}
    positions.published([group], [], at=1.0)
    assert len(positions.groups) == 0


Commit = tuple[int, int, int]  # row, offset, ms


def taken(commits: list[Commit], at_once: int = 7) -> EarlierCommits:
    earlier = EarlierCommits()
    for start in range(0, len(commits), at_once):
        some = np.array(commits[start : start + at_once], np.int64)
        earlier.take(some[:, 0], some[:, 1], some[:, 2])
    return earlier


def of(earlier: EarlierCommits, row: int, newest: int = -5) -> list[tuple[int, int]]:
    (offsets,), (times,) = earlier.of(np.array([row]), np.array([newest]))
    return list(zip(offsets, times, strict=True))


def test_the_newest_is_told_by_the_event_itself() -> None:
    earlier = taken([(1, 10, 1000), (2, 7, 1500), (1, 20, 6000)])
    assert of(earlier, 1, newest=20) == [(10, 1000)]
    assert of(earlier, 1, newest=30) == [(10, 1000), (20, 6000)]
    assert of(earlier, 2, newest=7) == []
    assert of(earlier, 3) == []


def test_what_was_deleted_or_negative_ends_what_was_before() -> None:
    earlier = taken([(1, 10, 1000), (2, 10, 1000)])
    earlier.forget(1)
    assert of(earlier, 1) == []
    assert of(earlier, 2) == [(10, 1000)]
    earlier.take(np.array([1, 2, 2]), np.array([30, -1, 40]), np.array([5000, 6000, 7000]))
    assert of(earlier, 1) == [(30, 5000)]
    assert of(earlier, 2) == [(40, 7000)]


def test_what_is_published_is_let_go() -> None:
    earlier = taken([(1, 10, 1000), (2, 10, 1000)])
    earlier.drop(np.array([True, True, False]))
    assert of(earlier, 1) == []
    assert len(earlier) == 1
    earlier.drop(np.array([True, True, True]))
    assert len(earlier) == 0


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(-1, 9), st.integers(0, 30_000)), max_size=200
    ),
    st.integers(1, 50),
)
def test_as_one_by_one(commits: list[Commit], at_once: int) -> None:
    expected: dict[int, list[tuple[int, int]]] = {row: [] for row in range(1, 5)}
    for row, offset, at in commits:
        if offset < 0:
            expected[row].clear()
            continue
        if expected[row] and expected[row][-1][1] // 1000 == at // 1000:
            expected[row].pop()
        expected[row].append((offset, at))
    earlier = taken(commits, at_once)
    for row, one in expected.items():
        assert of(earlier, row) == one[-KEPT - 1 :]


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
