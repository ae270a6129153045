"""."""

import numpy as np
import pytest
import support.coordinator_records as encode
from support.coordinator_batches import batch
from support.recorded_positions import recorded_positions
from warren_collector.logs.ends import LogEnds
from warren_collector.positions.events import Origin, group_events
from warren_collector.positions.index import NEVER, Group
from warren_collector.positions.merged import MergedPositions, Part
from warren_collector.positions.observed import ObservedPositions
from warren_collector.sources.shards import java_hash, offsets_partition
from warren_collector.sources.source import (
    Snapshot,
    SourcePartition,
    SourcePartitions,
    assigned,
    open_from_of,
    open_from_text,
)
from warren_wire.committed_offsets import CommittedOffsets


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


SHARD = 3
Commit = tuple[int, int]
"""Offset and Unix milliseconds."""


class Fixture:
    """A group `g` that Kafka and ZooKeeper may know."""

    def __init__(self) -> None:
        self.kafka = recorded_positions()
        self.old = ObservedPositions(lambda _: True, lambda _: SHARD)
        self.merged = MergedPositions(
            [Part("offsets_topic", self.kafka), Part("zookeeper", self.old)]
        )

    def in_kafka(self, partition: int, commit: Commit | None) -> None:
        value = None if commit is None else encode.offset_value(*commit)
        record = encode.offset_key("g", "t", partition), value
        self.merged.fold(batch([record], partition=SHARD))

    def in_zookeeper(self, commits: dict[int, Commit]) -> None:
        offsets = CommittedOffsets(
            np.array(list(commits), np.int64),
            np.array([offset for offset, _ in commits.values()], np.int64),
            np.array([at for _, at in commits.values()], np.int64),
        )
        snapshot = Snapshot(1, frozenset({SHARD}), {"g": {"t": offsets}})
        self.old.observe(snapshot, frozenset({SHARD}))

    def due(self) -> Group | None:
        groups = self.merged.due(NEVER)
        assert len(groups) <= 1
        return groups[0] if groups else None

    def state(self) -> dict[int, tuple[int, int, int]]:
        """Offset, commit time and commits by partition, and all of it published."""
        group = self.due()
        assert group is not None
        columns = self.merged.columns
        found = {
            partition: (
                int(columns.offset[row]),
                int(columns.committed_at[row]),
                int(columns.commits[row]),
            )
            for rows in group.topics.values()
            for partition, row in rows.by_partition.items()
        }
        self.publish(group)
        return found

    def publish(self, group: Group) -> None:
        self.merged.published([group], [np.fromiter(group.all_rows(), np.int64)], 1.0)

    def label(self) -> tuple[str, int]:
        group = next(iter(self.merged.groups))
        origin = Origin("prod", "offsets_topic", 100)
        (event,) = group_events(group, self.merged.columns, LogEnds(), origin, 77, 1).events
        return event.source, event.position


def test_the_newest_commit_of_each_position_wins() -> None:
    at = Fixture()
    at.in_kafka(0, (5, 100))
    at.in_kafka(1, (6, 300))
    at.in_zookeeper({0: (7, 200), 1: (8, 200), 2: (9, 50)})
    assert at.state() == {0: (7, 200, 1), 1: (6, 300, 1), 2: (9, 50, 1)}
    assert at.due() is None
    at.in_kafka(0, (8, 250))
    assert at.state() == {0: (8, 250, 1), 1: (6, 300, 0), 2: (9, 50, 0)}


def test_of_equally_old_commits_that_of_the_source_named_first_wins() -> None:
    at = Fixture()
    at.in_zookeeper({0: (9, 100)})
    at.in_kafka(0, (5, 100))
    assert at.state() == {0: (5, 100, 1)}


def test_a_position_that_one_source_gives_up_is_that_of_the_other() -> None:
    at = Fixture()
    at.in_kafka(0, (5, 100))
    at.in_zookeeper({0: (7, 200), 1: (8, 200)})
    at.state()
    at.in_zookeeper({})
    group = at.due()
    assert group is not None
    assert group.deletions() == {"t": [1]}
    assert at.state() == {0: (5, 100, 0)}


def test_a_group_that_all_give_up_is_deleted() -> None:
    at = Fixture()
    at.in_kafka(0, (5, 100))
    at.in_zookeeper({0: (7, 200)})
    at.state()
    at.in_kafka(0, None)
    assert at.state() == {0: (7, 200, 0)}
    at.in_zookeeper({})
    group = at.due()
    assert group is not None
    assert group.is_empty
    assert group.deletions() == {"t": [0]}
    at.publish(group)
    assert (len(at.merged.groups), len(at.merged)) == (0, 0)


def test_a_deletion_of_what_was_not_there_is_told_as_well() -> None:
    at = Fixture()
    at.in_kafka(4, None)
    group = at.due()
    assert group is not None
    assert group.deletions() == {"t": [4]}


def test_events_name_the_source_of_the_newest_commit_and_shared_groups_have_no_position() -> None:
    at = Fixture()
    at.in_kafka(0, (5, 100))
    at.due()
    assert at.label() == ("offsets_topic", 77)
    at.in_zookeeper({0: (7, 200)})
    at.due()
    assert at.label() == ("zookeeper", -1)
    at.in_kafka(0, (5, 300))
    at.due()
    assert at.label() == ("offsets_topic", -1)


def test_released_partitions_are_forgotten() -> None:
    at = Fixture()
    at.in_kafka(0, (5, 100))
    at.due()
    for positions in (at.kafka, at.merged):
        positions.release([SHARD])
    assert at.due() is None
    assert len(at.merged) == 0
