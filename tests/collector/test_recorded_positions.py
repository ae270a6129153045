"""Records of the offsets topic become positions: whatever comes, in whichever batches."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
import support.coordinator_records as encode
from hypothesis import given, strategies as st
from support.coordinator_batches import batch
from support.recorded_positions import (
    Committed,
    Position,
    Record,
    commit_counts,
    commits,
    committed,
    everything,
    recorded_positions,
)
from support.whole_records import OffsetCommit, OffsetDeleted, decode_record
from warren_wire.records import Malformed


@dataclass
class Naive:
    """The same folding, one record after the other, in dictionaries."""

    committed: dict[Position, Committed] = field(default_factory=dict)
    counts: Counter[Position] = field(default_factory=Counter)
    removed: set[Position] = field(default_factory=set)

    def fold(self, record: Record, counted: bool) -> None:
        (decoded,) = decode_record(*record)
        match decoded:
            case OffsetCommit():
                key = (decoded.group, decoded.topic, decoded.partition)
                if decoded.group.startswith("denied"):
                    return
                self.committed[key] = (decoded.offset, decoded.timestamp_ms)
                self.counts[key] += counted
                self.removed.discard(key)
            case OffsetDeleted():
                key = (decoded.group, decoded.topic, decoded.partition)
                if decoded.group.startswith("denied"):
                    return
                self.committed.pop(key, None)
                self.counts.pop(key, None)
                if counted:
                    self.removed.add(key)


KEYS = st.builds(
    encode.offset_key,
    st.sampled_from(["a", "b", "denied"]),
    st.sampled_from(["orders", "returns"]),
    st.integers(0, 3),
)
VALUES = st.builds(
    encode.offset_value,
    st.integers(0, 1000),
    st.integers(1, 10**13),
    version=st.sampled_from([0, 1, 3, 3, 3, 4, 4]),
    metadata=st.sampled_from(["", "", "m", "é"]),
)
RECORDS = st.tuples(KEYS, VALUES | VALUES | st.none() | st.just(b"\0\3bad")) | st.tuples(
    st.binary(max_size=6) | st.just(encode.group_key("a")), st.binary(max_size=6) | st.none()
)
BATCHES = st.lists(st.lists(RECORDS, max_size=40), max_size=4)


@given(BATCHES, st.integers(0, 160))
def test_folding_together_is_as_folding_one_by_one(
    batches: list[list[Record]], count_from: int
) -> None:
    positions = recorded_positions(lambda group: not group.startswith("denied"))
    naive = Naive()
    seen = 0
    for records in batches:
        counted = [seen + index >= count_from for index in range(len(records))]
        seen += len(records)
        positions.fold(batch(records, counted=counted))
        for record, is_counted in zip(records, counted, strict=True):
            naive.fold(record, is_counted)
    assert committed(positions) == naive.committed
    assert commit_counts(positions) == {key: n for key, n in naive.counts.items() if n}
    removed = {
        (group.name, topic, partition)
        for group in positions.groups
        for topic, partitions in group.deletions().items()
        for partition in partitions
    }
    assert removed == naive.removed
    assert len(positions) == len(naive.committed)


def test_a_deletion_of_a_position_that_compaction_has_dropped_is_told() -> None:
    positions = recorded_positions()
    positions.fold(batch([(encode.offset_key("a", "orders", 7), None)]))
    (group,) = positions.groups.due(-np.inf)
    assert group.deletions() == {"orders": [7]}


def test_the_same_position_under_two_key_versions_is_one() -> None:
    positions = recorded_positions()
    old, new = (encode.offset_key("a", "orders", 0, version) for version in (0, 1))
    value = encode.offset_value
    positions.fold(batch([(old, value(1, 1)), (new, value(2, 2)), (old, None)]))
    assert committed(positions) == {("a", "orders", 0): (2, 2)}
    positions.fold(batch([(old, value(3, 3)), (new, None)]))
    assert committed(positions) == {("a", "orders", 0): (3, 3)}
    positions.fold(batch([(old, None)]))
    assert committed(positions) == {}


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ((None, b"x"), "key"),
        ((b"\0", b"x"), "key.version"),
        ((encode.offset_key("a", "orders", 0)[:-1], b"x"), "key.partition"),
        ((encode.offset_key("a", "orders", -5), encode.offset_value(1, 1)), "key.partition"),
        ((encode.offset_key("a", "orders", 0), b"\0\3\0"), "value.offset"),
        ((encode.offset_key("a", "orders", 0), b""), "value.version"),
    ],
)
def test_malformed_records_are_handed_back(record: Record, field: str) -> None:
    positions = recorded_positions()
    folded = positions.fold(batch([*commits("b", 9), record, *commits("c", 9)]))
    ((index, malformed),) = folded.rejected
    assert index == 9
    assert isinstance(malformed, Malformed)
    assert malformed.field == field
    assert {group.name for group in positions.groups} == {"b", "c"}
    assert len(positions) == 18


def test_unknown_kinds_and_versions_are_counted() -> None:
    positions = recorded_positions()
    records: list[Record] = [
        (b"\0\x63", b"?"),
        (b"\0\x63", None),
        (encode.group_key("a"), b"\0\5?"),
        (encode.part_key(8, "a", "m"), b"\0\1?"),
        (encode.offset_key("a", "orders", 0), b"\0\x09?"),
    ]
    assert positions.fold(batch(records)).skipped == {
        (99, None): 2,
        (2, 5): 1,
        (8, 1): 1,
        (1, 9): 1,
    }
    assert len(positions.groups) == 0


def test_unknown_tags_are_read_over() -> None:
    positions = recorded_positions()
    value = encode.offset_value(7, 1637, version=4)[:-1] + encode.tagged_fields({5: b"?"})
    positions.fold(batch([(encode.offset_key("a", "orders", 0), value)]))
    assert committed(positions) == {("a", "orders", 0): (7, 1637)}


def test_denied_topics_are_not_folded_in() -> None:
    positions = recorded_positions(everything, lambda topic: topic != "returns")
    records: list[Record] = [
        (encode.offset_key("a", topic, 0), encode.offset_value(7, 5))
        for topic in ("orders", "returns")
    ]
    positions.fold(batch(records))
    positions.fold(batch([(records[1][0], None)]))
    assert committed(positions) == {("a", "orders", 0): (7, 5)}


def test_what_is_denied_from_now_on_is_deleted() -> None:
    denied: set[str] = set()
    positions = recorded_positions(lambda name: name not in denied, lambda name: name not in denied)
    records: list[Record] = [
        (encode.offset_key(group, topic, number), encode.offset_value(7, 5))
        for group in ("a", "b", "c")
        for topic in ("orders", "returns")
        for number in range(2)
    ]
    positions.fold(batch(records))
    groups = {group.name: group for group in positions.groups}
    positions.published(list(groups.values()), [], 0)
    denied.update({"a", "returns"})
    positions.drop_denied()
    assert {name for name, _, _ in committed(positions)} == {"b", "c"}
    assert {topic for _, topic, _ in committed(positions)} == {"orders"}
    assert len(positions) == 4
    assert groups["a"].deletions() == {"orders": [0, 1], "returns": [0, 1]}
    assert groups["b"].deletions() == {"returns": [0, 1]}
    assert {group.name for group in positions.groups.due(-1)} == {"a", "b", "c"}
    positions.published(positions.groups.due(-1), [], 1)
    positions.drop_denied()
    assert not positions.groups.dirty.any()


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=60), st.integers(1, 59))
def test_how_records_are_batched_does_not_matter(records: list[Record], cut: int) -> None:
    together, apart = recorded_positions(), recorded_positions()
    together.fold(batch(records))
    apart.fold(batch(records[:cut]))
    apart.fold(batch(records[cut:]))
    assert committed(together) == committed(apart)
    assert commit_counts(together) == commit_counts(apart)
