"""."""

import numpy as np
import pytest
from warren_collector.sources.shards import java_hash, offsets_partition
from warren_collector.sources.source_partitions import (
    SourcePartition,
    SourcePartitions,
    assigned,
    open_from_of,
    open_from_text,
)


def owning(*partitions: SourcePartition) -> SourcePartitions:
    owned = SourcePartitions()
    for partition in partitions:
        owned.add(partition)
    return owned


def test_the_first_time_all_up_to_the_end_only_rebuilds() -> None:
    partitions = owning(assigned(0, stored=None, end=100))
    counted = partitions.counted(np.array([0, 0, 0]), np.array([98, 99, 100]))
    assert counted is not None
    assert counted.tolist() == [False, False, True]


def test_after_a_restart_what_follows_the_stored_position_counts() -> None:
    partitions = owning(assigned(0, stored=50, end=100), assigned(1, stored=0, end=100))
    counted = partitions.counted(np.array([0, 1, 0, 1]), np.array([49, 0, 50, 1]))
    assert counted is not None
    assert counted.tolist() == [False, True, True, True]


def test_once_past_it_all_count() -> None:
    partitions = owning(assigned(0, stored=50, end=100))
    partitions.advance(np.array([0, 0]), np.array([10, 49]))
    assert partitions.counted(np.array([0]), np.array([50])) is None


def test_live_from_the_end_seen_at_assignment() -> None:
    partition = assigned(0, stored=None, end=100)
    partitions = owning(partition)
    partitions.advance(np.array([0]), np.array([98]))
    assert (partition.position, partition.is_live, partitions.behind()) == (99, False, 1)
    partitions.advance(np.array([0]), np.array([99]))
    assert partitions.live() == {0: 100}
    assert partitions.are_live


@pytest.mark.parametrize(("stored", "count_from"), [(None, 10), (500, 10), (3, 3)])
def test_a_stored_position_beyond_the_end_is_of_an_older_topic(
    stored: int | None, count_from: int
) -> None:
    assert assigned(0, stored, end=10).count_from == count_from


def test_records_of_partitions_that_are_not_owned_are_known() -> None:
    partitions = owning(assigned(2, None, 5))
    assert partitions.owned(np.array([2, 2])) is None
    owned = partitions.owned(np.array([2, 7, 0]))
    assert owned is not None
    assert owned.tolist() == [True, False, False]


def test_no_records() -> None:
    partitions = owning(assigned(2, None, 5))
    nothing = np.zeros(0, np.int32)
    assert partitions.owned(nothing) is None
    counted = partitions.counted(nothing, nothing.astype(np.int64))
    assert counted is not None
    assert len(counted) == 0
    partitions.advance(nothing, nothing.astype(np.int64))
    assert SourcePartitions().owned(nothing) is None
    assert SourcePartitions().are_live


@pytest.mark.parametrize("open_from", [None, 0, 7])
def test_what_is_open_is_stored_beside_the_position(open_from: int | None) -> None:
    assert open_from_of(open_from_text(open_from)) == open_from
    assert assigned(0, 9, end=10, open_from=open_from).open_from == open_from


def test_nothing_is_open_in_a_topic_that_was_created_anew() -> None:
    assert assigned(0, 500, end=10, open_from=7).open_from is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("warren", -795007821),
        ("polygenelubricants", -(2**31)),
        ("grüße 🐇", 347378579),
    ],
)
def test_strings_hash_as_in_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_partitions_are_those_of_the_coordinator() -> None:
    assert offsets_partition("polygenelubricants", 50) == 0
    assert offsets_partition("warren", 50) == 21
