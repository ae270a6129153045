"""Gaps between a batch's records, worked out from runs of offsets, and what is told of them."""

import pytest
from hypothesis import given, strategies as st
from warren_archiver.lake.gaps import (
    Cause,
    Gap,
    Run,
    at_ends,
    gaps,
    unrecorded,
)
from warren_archiver.lake.offset_ranges import OffsetRanges

BEGAN = 100.0
PLACE, OTHER = ("warren.lag", 3), ("warren.lag", 4)


def _runs(*pairs: tuple[int, int], at: float = 200.0) -> list[Run]:
    return [Run(PLACE, first, last, at) for first, last in pairs]


@pytest.mark.parametrize(
    ("runs", "start", "expected", "open_since"),
    [
        (_runs((0, 9)), 0, [], None),
        ([], 10, [], None),
        ([], None, [], None),
        (_runs((6, 7), (2, 3)), 0, [(0, 1, False), (4, 5, False)], 8),
        (_runs((6, 7), (2, 3)), None, [(4, 5, False)], 8),
        ([], 0, [], 0),
        # What is older than the archive is so called.
        (_runs((2, 3), at=50.0) + _runs((6, 9)), 0, [(0, 1, True), (4, 5, False)], None),
    ],
)
def test_gaps_are_before_between_and_after_runs(
    runs: list[Run],
    start: int | None,
    expected: list[tuple[int, int, bool]],
    open_since: int | None,
) -> None:
    found, left = gaps(runs, {} if start is None else {PLACE: start}, {PLACE: 10}, BEGAN)
    assert [(gap.first, gap.last, gap.before_archive) for gap in found] == expected
    assert left.get(PLACE) == open_since


@given(st.sets(st.integers(0, 20)), st.integers(0, 10))
def test_each_offset_is_in_a_run_a_gap_or_the_open_end(offsets: set[int], start: int) -> None:
    there = OffsetRanges.of((offset, offset + 1) for offset in offsets if offset >= start)
    found, left = gaps(
        _runs(*((first, end - 1) for first, end in there.ranges)), {PLACE: start}, {PLACE: 21}, 0
    )
    told = OffsetRanges.of((gap.first, gap.last + 1) for gap in found)
    rest = OffsetRanges.of([(left[PLACE], 21)]) if left else OffsetRanges()
    assert len(told) == sum(gap.records for gap in found)
    every = OffsetRanges.of(pair for each in (there, told, rest) for pair in each.ranges)
    assert every == OffsetRanges.of([(start, 21)])
    assert len(there) + len(told) + len(rest) == 21 - start


def test_the_cause_is_told_by_where_the_log_begins() -> None:
    gap = Gap(PLACE, 4, 5, before_archive=False)
    assert [gap.cause(start) for start in (5, 6)] == [Cause.COMPACTION, Cause.RETENTION]
    assert Gap(PLACE, 4, 5, before_archive=True).cause(6) is Cause.BEFORE_ARCHIVE


@pytest.mark.parametrize(("log_start", "told"), [(0, []), (9, []), (10, [(8, 9)]), (12, [(8, 9)])])
def test_what_is_missing_at_an_end_waits_for_a_record_unless_retention_took_it(
    log_start: int, told: list[tuple[int, int]]
) -> None:
    """A record tells how old the gap is. Of a deleted topic nobody knows where logs began."""
    found = at_ends({PLACE: 8}, {PLACE: 10, OTHER: 7}, {PLACE: log_start})
    assert [(gap.first, gap.last) for gap in found] == told
    assert at_ends({PLACE: 8}, {PLACE: 10}, {}) == []


@pytest.mark.parametrize(
    ("recorded", "left"),
    [
        ([], [(0, 9)]),
        ([(0, 10)], []),
        ([(0, 4)], [(4, 9)]),
        ([(3, 5), (9, 20)], [(0, 2), (5, 8)]),
    ],
)
def test_what_is_recorded_is_told_once(
    recorded: list[tuple[int, int]], left: list[tuple[int, int]]
) -> None:
    """It is looked for whenever the query starts."""
    found = unrecorded([Gap(PLACE, 0, 9, False)], {PLACE: recorded})
    assert [(gap.first, gap.last) for gap in found] == left
    assert unrecorded([Gap(OTHER, 0, 9, False)], {PLACE: [(0, 99)]})


@pytest.mark.timeout(20)
def test_a_topic_may_have_a_hundred_thousand_gaps() -> None:
    """Compared one by one they would take hours."""
    found = [Gap(PLACE, at, at, at < 50) for at in range(0, 200_000, 2)]
    recorded = [(at, at + 1) for at in range(0, 199_996, 2)]
    assert unrecorded(found, {PLACE: recorded[::-1]}) == found[-2:]
    assert unrecorded(found, {}) == found
