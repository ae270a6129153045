"""Ranges against sets."""

from hypothesis import given, strategies as st
from warren_archiver.lake.offset_ranges import OffsetRanges

OFFSETS = st.sets(st.integers(0, 40))


def _ranges(offsets: set[int]) -> OffsetRanges:
    return OffsetRanges.of((offset, offset + 1) for offset in offsets)


def _offsets(ranges: OffsetRanges) -> set[int]:
    return {offset for start, end in ranges.ranges for offset in range(start, end)}


@given(OFFSETS)
def test_ranges_are_maximal_and_ascending(offsets: set[int]) -> None:
    ranges = _ranges(offsets)
    assert _offsets(ranges) == offsets
    assert len(ranges) == len(offsets)
    assert ranges.end == max(offsets, default=-1) + 1
    flat = [edge for pair in ranges.ranges for edge in pair]
    assert flat == sorted(set(flat))


@given(OFFSETS, OFFSETS)
def test_union_and_difference_are_those_of_sets(some: set[int], others: set[int]) -> None:
    every = (*_ranges(some).ranges, *_ranges(others).ranges)
    assert OffsetRanges.of(every) == _ranges(some | others)
    assert _ranges(some) - _ranges(others) == _ranges(some - others)


@given(OFFSETS, st.integers(0, 40), st.integers(0, 40))
def test_clip_keeps_what_is_inside(offsets: set[int], start: int, end: int) -> None:
    inside = {offset for offset in offsets if start <= offset < end}
    assert _ranges(offsets).clip(start, end) == _ranges(inside)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40))))
def test_overlapping_ranges_are_joined(pairs: list[tuple[int, int]]) -> None:
    expected = {offset for start, end in pairs for offset in range(start, end)}
    assert _offsets(OffsetRanges.of(pairs)) == expected


def test_people_see_the_first_five() -> None:
    assert str(OffsetRanges.of([(3, 4), (7, 10)])) == "3, 7-9"
    assert str(_ranges({0, 2, 4, 6, 8, 10})) == "0, 2, 4, 6, 8, …"
