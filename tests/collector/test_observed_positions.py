import numpy as np
from support.coordinator_batches import batch
from warren_collector.positions.index import NEVER
from warren_collector.positions.observed import ObservedPositions
from warren_collector.sources.source import Snapshot
from warren_wire.committed_offsets import CommittedOffsets

NOW = 1_000
Told = dict[str, dict[int, int]]
"""Offsets by topic and partition."""


class Fixture:
    """Groups `a…` are in shard 0, all others in shard 1; both are owned."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        self.denied_topics: set[str] = set()
        self.owned = frozenset({0, 1})
        self.positions = ObservedPositions(
            lambda group: group not in self.denied,
            lambda group: 0 if group.startswith("a") else 1,
            lambda topic: topic not in self.denied_topics,
        )
        self.now = NOW

    def observe(
        self,
        groups: dict[str, Told],
        *,
        times: int | None = None,
        unread: frozenset[str] = frozenset(),
        is_complete: bool = True,
        shards: frozenset[int] = frozenset({0, 1}),
    ) -> tuple[int, int]:
        """Commits that were counted, and deletions; `times`: told by the source, all this one."""
        self.now += 1000
        told = {
            group: {topic: columns(offsets, times) for topic, offsets in topics.items()}
            for group, topics in groups.items()
        }
        before = self._there()
        self.positions.observe(Snapshot(self.now, shards, told, unread, is_complete), self.owned)
        return self.positions.fold(batch([])).commits, len(before - self._there())

    def _there(self) -> set[tuple[str, str, int]]:
        return {
            (group.name, topic, partition)
            for group in self.positions.groups
            for topic, rows in group.topics.items()
            for partition in rows.by_partition
        }

    def state(self, group: str) -> dict[tuple[str, int], tuple[int, int, int]]:
        """Offset, commit time and commits by position."""
        found = next(g for g in self.positions.groups if g.name == group)
        table = self.positions.columns
        return {
            (topic, partition): (
                int(table.offset[row]),
                int(table.committed_at[row]),
                int(table.commits[row]),
            )
            for topic, rows in found.topics.items()
            for partition, row in rows.by_partition.items()
        }

    def publish(self) -> dict[str, dict[str, list[int]]]:
        """Deletions of the groups that were due, by group."""
        due = self.positions.due(NEVER)
        deletions = {group.name: group.deletions() for group in due}
        rows = [np.fromiter(group.all_rows(), np.int64) for group in due]
        self.positions.published(due, rows, 1.0)
        return deletions

    def names(self) -> set[str]:
        return {group.name for group in self.positions.groups}


def columns(offsets: dict[int, int], time: int | None) -> CommittedOffsets:
    return CommittedOffsets(
        np.array(list(offsets), np.int64),
        np.array(list(offsets.values()), np.int64),
        None if time is None else np.full(len(offsets), time, np.int64),
    )


def test_what_was_there_before_is_state_and_what_changes_is_a_commit_of_that_time() -> None:
    at = Fixture()
    assert at.observe({"a": {"t": {0: 5, 2: 6}}}) == (0, 0)
    assert at.state("a") == {("t", 0): (5, 2000, 0), ("t", 2): (6, 2000, 0)}
    assert at.observe({"a": {"t": {0: 5, 2: 9}}}) == (1, 0)
    assert at.state("a") == {("t", 0): (5, 2000, 0), ("t", 2): (9, 3000, 1)}


def test_a_group_topic_or_partition_that_is_new_later_has_just_committed() -> None:
    at = Fixture()
    at.observe({"a": {"t": {0: 5}}})
    assert at.observe({"a": {"t": {0: 5, 1: 1}, "u": {0: 1}}, "b": {"t": {0: 1}}}) == (3, 0)
    assert at.state("b") == {("t", 0): (1, 3000, 1)}


def test_times_that_the_source_tells_are_kept_and_tell_commits_of_the_same_offset() -> None:
    at = Fixture()
    assert at.observe({"a": {"t": {0: 5}}}, times=70) == (1, 0)
    assert at.observe({"a": {"t": {0: 5}}}, times=70) == (0, 0)
    assert at.observe({"a": {"t": {0: 5}}}, times=80) == (1, 0)
    assert at.state("a") == {("t", 0): (5, 80, 2)}


def test_partitions_topics_and_offsets_that_are_gone_are_removed_at_once() -> None:
    at = Fixture()
    at.observe({"a": {"t": {0: 5, 1: 5}, "u": {3: 1}, "v": {0: 1}}})
    at.publish()
    assert at.observe({"a": {"t": {1: 5}, "v": {}}}) == (0, 3)
    assert at.publish() == {"a": {"t": [0], "u": [3], "v": [0]}}
    assert len(at.positions) == 1


def test_a_group_is_gone_after_two_complete_snapshots_without_it() -> None:
    at = Fixture()
    at.observe({"a": {"t": {0: 5}}})
    at.publish()
    at.observe({})
    at.observe({}, is_complete=False)
    at.observe({}, unread=frozenset({"a"}))
    at.observe({})
    assert at.publish() == {}
    at.observe({})
    assert at.publish() == {"a": {"t": [0]}}
    assert at.names() == set()


def test_groups_of_shards_that_are_not_read_or_not_owned_any_more_are_left_alone() -> None:
    at = Fixture()
    at.observe({"a": {"t": {0: 5}}, "b": {"t": {0: 5}}})
    for _ in range(3):
        at.observe({"b": {"t": {0: 6}}}, shards=frozenset({1}))
    assert at.names() == {"a", "b"}
    at.owned = frozenset({0})
    at.positions.release([1])
    at.observe({"a": {"t": {0: 5}}, "b": {"t": {0: 7}}})
    assert at.names() == {"a"}
    assert at.positions.rebuilt == {0}
    at.owned = frozenset({0, 1})
    assert at.observe({"a": {"t": {0: 5}}, "b": {"t": {0: 7}}}) == (0, 0)
    assert at.state("b") == {("t", 0): (7, at.now, 0)}


def test_groups_and_topics_that_are_not_watched_any_more_are_removed() -> None:
    at = Fixture()
    told: dict[str, Told] = {"a": {"t": {0: 5}}, "b": {"t": {0: 5}, "u": {0: 5}}}
    at.observe(told)
    at.publish()
    at.denied, at.denied_topics = {"a"}, {"u"}
    at.observe(told)
    assert at.publish() == {"a": {"t": [0]}, "b": {"u": [0]}}
    at.denied = set()
    at.observe(told)
    assert at.names() == {"a", "b"}
