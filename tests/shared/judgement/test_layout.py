"""Rows of partitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warren_core.judgement.columns import MISSING, Layout

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
