"""What all positions share: rows, due groups, what publishing and releasing does to them."""

from __future__ import annotations

import numpy as np
from support.coordinator_batches import batch
from support.recorded_positions import commit_counts, commits, committed, recorded_positions


def test_columns_grow() -> None:
    positions = recorded_positions()
    folded = positions.fold(batch(commits("big", 5000)))
    assert folded.commits == len(positions) == 5000
    assert committed(positions)["big", "orders", 4999] == (49990, 1000)


def test_groups_grow() -> None:
    positions = recorded_positions()
    for number in range(3000):
        positions.fold(batch(commits(f"group-{number}", 1)))
    assert len(positions.groups) == 3000
    assert len(positions.groups.due(-np.inf)) == 3000


def test_rows_are_used_again() -> None:
    positions = recorded_positions()
    records = commits("a", 900)
    for _ in range(5):
        positions.fold(batch(records))
        positions.fold(batch([(key, None) for key, _ in records]))
    positions.fold(batch(commits("b", 900)))
    assert len(positions.columns.offset) == 1024
    assert set(commit_counts(positions).values()) == {1}


def test_a_released_partition_is_forgotten_and_the_others_stay() -> None:
    positions = recorded_positions(lambda group: group != "denied")
    both = [*commits("a", 2), *commits("b", 2), *commits("denied", 2)]
    positions.fold(batch(both, partition=[0, 0, 1, 1, 1, 1]))
    positions.release([1])
    assert {key[0] for key in committed(positions)} == {"a"}
    assert len(positions) == 2
    folded = positions.fold(batch(both, partition=[0, 0, 1, 1, 1, 1]))
    assert (folded.commits, folded.denied) == (4, 2)
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
