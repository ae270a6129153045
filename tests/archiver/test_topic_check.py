"""When a table agrees with its topic."""

import pytest
from warren.contracts.topics import LAG, OFFSETS, Topic
from warren_archiver.check.topic_check import TableOffsets, TopicCheck, TopicOffsets, compare
from warren_archiver.lake.offset_ranges import OffsetRanges

Ranges = list[tuple[int, int]]


def _compare(
    topic: Topic = OFFSETS,
    *,
    retained: Ranges,
    table: Ranges,
    start: int = 0,
    end: int = 100,
    end_now: int = 0,
    twice: int = 0,
    older: OffsetRanges = OffsetRanges(),  # noqa: B008  # frozen
) -> TopicCheck:
    rows = OffsetRanges.of(table)
    return compare(
        topic,
        "warren.x",
        {3: TopicOffsets(OffsetRanges.of(retained), start, end)},
        {3: TableOffsets(rows, len(rows) + twice)},
        {3: max(end, end_now)},
        {3: older},
    )


@pytest.mark.parametrize(
    ("topic", "retained", "table", "start", "behind"),
    [
        (OFFSETS, [(0, 100)], [(0, 100)], 0, 0),
        (OFFSETS, [(0, 100)], [(0, 60)], 0, 40),  # what is not archived yet is no difference
        # What retention has deleted is not expected, but allowed.
        (OFFSETS, [(50, 100)], [(0, 100)], 50, 0),
        (OFFSETS, [(50, 100)], [(70, 100)], 70, 0),
        # Compaction may have removed what is archived.
        (LAG, [(7, 8), (90, 100)], [(0, 100)], 0, 0),
    ],
)
def test_what_may_differ_is_no_difference(
    topic: Topic, retained: Ranges, table: Ranges, start: int, behind: int
) -> None:
    found = _compare(topic, retained=retained, table=table, start=start)
    assert found.correct, found.differences
    assert (found.behind, found.equal) == (behind, behind == 0)


def test_what_comes_during_the_check_need_not_be_archived_yet() -> None:
    """Read and archived went on meanwhile, to different ends."""
    for table in (100, 105, 107, 110):
        found = _compare(retained=[(0, 107)], table=[(0, table)], end=100, end_now=110)
        assert found.equal, found.differences
    found = _compare(retained=[(0, 107)], table=[(0, 99), (104, 111)], end=100, end_now=110)
    assert found.differences == [
        "partition 3: 1 not archived: 99",
        "partition 3: rows beyond the topic's end: 110",
    ]


@pytest.mark.parametrize(
    ("topic", "retained", "table", "twice", "difference"),
    [
        (OFFSETS, [(0, 100)], [(0, 10), (12, 60)], 0, "2 not archived: 10-11"),
        (OFFSETS, [(0, 100)], [(0, 60)], 3, "3 rows too many for their offsets"),
        (OFFSETS, [(0, 100)], [(0, 102)], 0, "rows beyond the topic's end: 100-101"),
        (OFFSETS, [(0, 5), (6, 100)], [(0, 60)], 0, "rows that the topic lacks: 5"),
        # Compaction leaves what it has not removed.
        (LAG, [(7, 8), (90, 100)], [(8, 100)], 0, "1 not archived: 7"),
    ],
)
def test_differences_say_what_and_where(
    topic: Topic, retained: Ranges, table: Ranges, twice: int, difference: str
) -> None:
    found = _compare(topic, retained=retained, table=table, twice=twice)
    assert f"partition 3: {difference}" in found.differences
    assert not found.equal


def test_rows_of_a_partition_that_is_gone_are_beyond_its_end() -> None:
    rows = TableOffsets(OffsetRanges.of([(0, 2)]), 2)
    found = compare(OFFSETS, "warren.x", {}, {5: rows}, {})
    assert found.differences == ["partition 5: rows beyond the topic's end: 0-1"]


@pytest.mark.parametrize("topic", [LAG, OFFSETS])
def test_what_was_gone_before_it_was_archived_is_a_difference(topic: Topic) -> None:
    found = _compare(topic, retained=[(80, 100)], table=[(0, 20), (60, 100)], start=60)
    assert (found.lost, found.equal) == (40, False)
    assert found.differences[-1] == "partition 3: 40 gone before they were archived: 20-59"


def test_what_was_gone_before_the_archive_began_is_none() -> None:
    older = OffsetRanges.of([(20, 60)])
    table = [(0, 20), (60, 100)]
    assert _compare(LAG, retained=[(80, 100)], table=table, start=60, older=older).equal
