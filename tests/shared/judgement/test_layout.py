"""Rows of partitions."""

import pytest
from hypothesis import given, strategies as st
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import OffsetEvent
from warren.errors import ContractViolation
from warren_core.judgement.columns import MISSING, Layout, Reported
from warren_core.judgement.judge import Taken
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import decode, encode

topics = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.integers(0, 6), unique=True), max_size=3
)


def pairs(of: dict[str, list[int]]) -> set[tuple[str, int]]:
    return {(topic, partition) for topic, partitions in of.items() for partition in partitions}


def named(layout: Layout) -> list[tuple[str, int]]:
    return [layout.name(row) for row in range(len(layout))]


@given(topics, topics)
def test_unions_and_differences_are_those_of_sets(
    one: dict[str, list[int]], other: dict[str, list[int]]
) -> None:
    assert named(Layout(one)) == sorted(pairs(one))
    assert named(Layout(one).after({}, other)) == sorted(pairs(one) | pairs(other))
    assert named(Layout(one).after(other, {})) == sorted(pairs(one) - pairs(other))


@given(topics, topics)
def test_rows_find_partitions_again(one: dict[str, list[int]], other: dict[str, list[int]]) -> None:
    here, there = Layout(one), Layout(other)
    found = [named(here)[row] if row != MISSING else None for row in here.rows_of(there)]
    assert found == [pair if pair in pairs(one) else None for pair in named(there)]
    for topic, partitions in other.items():
        names = [named(here)[row] for row in here.rows(topic, partitions) if row != MISSING]
        assert names == [(topic, p) for p in partitions if (topic, p) in pairs(one)]


def test_there_is_no_row_beyond_the_last() -> None:
    layout = Layout({"a": [0, 1]})
    assert [(topic, rows) for topic, _, rows in layout.slices()] == [("a", slice(0, 2))]
    with pytest.raises(IndexError):
        layout.name(2)
    assert layout == Layout({"a": [1, 0], "b": []})
    assert hash(layout) == hash(Layout({"a": [1, 0]}))
    assert layout != Layout({"a": [0]})


def event(minute: int, partitions: int = 1, **reported: list[int]) -> OffsetEvent:
    at = {p: At(100 + minute, NOW + minute * MINUTE) for p in range(partitions)}
    plain = offset_event(NOW + minute * MINUTE, {"orders": at})
    some = plain.topics["orders"].model_copy(update=reported)
    return plain.model_copy(update={"topics": {"orders": some}})


def state_of(group: Judge) -> GroupState:
    assert isinstance(group.state, GroupState)
    return group.state


def test_what_is_told_is_of_its_observation_alone() -> None:
    group = Judge()
    group.judged(event(0, leader=[3]))
    assert state_of(group).reported is None


def test_what_a_part_tells_is_kept_until_the_last_one_is_there() -> None:
    """From memory and from bytes, with new partitions."""
    group = Judge()
    assert isinstance(group(event(0, leader=[3]).model_copy(update={"parts": 2})), Taken)
    group.state = decode(encode(state_of(group)))
    more = event(0, partitions=2, leader=[3, 5]).model_copy(update={"parts": 3, "part": 1})
    assert isinstance(group(more.model_copy(update={"position": more.position + 1})), Taken)
    reported = state_of(group).reported
    assert reported is not None
    assert reported[Reported.LEADER].tolist() == [3, 5]
    group.judged(event(1, partitions=2).model_copy(update={"parts": 3, "part": 2}))
    assert state_of(group).reported is None


@pytest.mark.parametrize("name", ["leader", "last_stable"])
def test_a_number_beyond_64_bits_is_refused(name: str) -> None:
    """By name, where anybody looks at it."""
    part = event(0, **{name: [2**63]}).model_copy(update={"parts": 2})
    with pytest.raises(ContractViolation, match=f"topics.orders.{name}: beyond 64 bits"):
        Judge()(part)
