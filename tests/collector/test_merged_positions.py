import numpy as np
import support.coordinator_records as encode
from support.coordinator_batches import batch
from support.recorded_positions import recorded_positions
from warren_collector.logs.ends import LogEnds
from warren_collector.positions.events import Origin, group_events
from warren_collector.positions.index import NEVER, Group
from warren_collector.positions.merged import MergedPositions, Part
from warren_collector.positions.observed import ObservedPositions
from warren_collector.sources.source import Snapshot
from warren_wire.committed_offsets import CommittedOffsets

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
