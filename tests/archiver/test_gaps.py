"""Gaps between a batch's records, worked out from runs of offsets."""

from __future__ import annotations

from warren_archiver.lake.gaps import Cause, Gap, Run, between, gaps

BEGAN = 100.0
PLACE = ("warren.lag", 3)


def found(
    runs: list[Run], start: int | None = 0, end: int = 10
) -> tuple[list[tuple[int, int, bool]], int | None]:
    """Gaps, and since when the partition goes on missing."""
    starts = {} if start is None else {PLACE: start}
    result, open_since = gaps(runs, starts, {PLACE: end}, BEGAN)
    assert all(gap.place == PLACE for gap in result)
    return [(gap.first, gap.last, gap.before_archive) for gap in result], open_since.get(PLACE)


def test_nothing_is_missing() -> None:
    assert found([Run(PLACE, 0, 9, 200.0)]) == ([], None)
    assert found([], start=10) == ([], None)
    assert found([], start=None) == ([], None)


def test_before_between_and_after() -> None:
    runs = [Run(PLACE, 6, 7, 201.0), Run(PLACE, 2, 3, 200.0)]
    assert found(runs) == ([(0, 1, False), (4, 5, False)], 8)
    assert found(runs, start=None) == ([(4, 5, False)], 8)
    assert found([]) == ([], 0)
    assert Gap(PLACE, 4, 5, before_archive=False).records == 2


def test_what_is_older_than_the_archive_is_so_called() -> None:
    runs = [Run(PLACE, 2, 3, 50.0), Run(PLACE, 6, 9, 150.0)]
    assert found(runs) == ([(0, 1, True), (4, 5, False)], None)


def test_the_cause_is_told_by_where_the_log_begins() -> None:
    gap = Gap(PLACE, 4, 5, before_archive=False)
    assert [gap.cause(start) for start in (5, 6)] == [Cause.COMPACTION, Cause.RETENTION]
    assert Gap(PLACE, 4, 5, before_archive=True).cause(6) is Cause.BEFORE_ARCHIVE


def test_what_a_partition_went_on_missing_is_a_gap_as_far_as_the_batch_went() -> None:
    assert between({PLACE: 10, ("warren.lag", 4): 7}, {PLACE: 8}) == [Gap(PLACE, 8, 9, False)]
