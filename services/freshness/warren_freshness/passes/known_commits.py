"""What groups commit, the next offset or the last processed one: what earlier passes have seen."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from warren.contracts import FreshnessEvent
from warren_core.evaluation.commit_convention import CommitEvidence, Commits, Rest

from warren_freshness.figures.held_up import LateSince
from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.positions.group_positions import GroupKey, GroupSnapshot
from warren_freshness.positions.topic_columns import PartitionState

Known = TypeVar("Known")
_NOTHING: Commits = {}
Lateness = Mapping[str, Mapping[int, LateSince]]
"""By topic and partition, where anything is known."""


class KnownByGroup(Generic[Known]):
    """Whoever keeps something of each group says what."""

    def __init__(self) -> None:
        self._groups: dict[int, dict[GroupKey, Known]] = defaultdict(dict)

    def _get(self, group: GroupSnapshot) -> Known | None:
        return self._groups[group.home_partition].get((group.cluster, group.group))

    def forget(self, groups: Iterable[GroupKey]) -> None:
        """These groups are deleted."""
        for key in groups:
            for of_home in self._groups.values():
                of_home.pop(key, None)

    def release(self, home_partitions: Iterable[int]) -> None:
        """Another instance knows it from now on."""
        for partition in home_partitions:
            self._groups.pop(partition, None)


class KnownCommits(KnownByGroup[Commits]):
    """Of one cluster's groups."""

    def of(self, group: GroupSnapshot) -> Commits:
        return self._get(group) or _NOTHING

    def applied_to(self, group: GroupSnapshot) -> GroupSnapshot:
        """The group, with what its committed offsets mean."""
        known = self.of(group)
        topics = {
            topic: _read_by(known.get(topic, CommitEvidence()), states)
            for topic, states in group.topics.items()
        }
        return replace(group, topics=topics)

    def learn(self, group: GroupSnapshot, readings: Mapping[LogPosition, Reading]) -> None:
        """From where a group stands, and whether there is a record."""
        known = self.of(group)
        learnt = {
            topic: _seen(known.get(topic, CommitEvidence()), states, group.observed_at, readings)
            for topic, states in group.topics.items()
        }
        self._groups[group.home_partition][group.cluster, group.group] = learnt

    def recall(self, home_partition: int, events: Iterable[FreshnessEvent]) -> None:
        """Begins with what was published last, by whichever instance."""
        self._groups[home_partition] = {
            (event.cluster, event.group): {
                topic: CommitEvidence.of(columns.commit_convention)
                for topic, columns in event.topics.items()
            }
            for event in events
        }


def _read_by(evidence: CommitEvidence, states: Sequence[PartitionState]) -> list[PartitionState]:
    is_sure = evidence.convention is not None
    if is_sure and not evidence.steps:
        return list(states)
    # Doubt matters only where a group rests at the last record: few are copied for it.
    return [
        state._replace(steps=evidence.steps, is_sure=is_sure)
        if evidence.steps or state.rests_at_last_record
        else state
        for state in states
    ]


def _seen(
    known: CommitEvidence,
    states: Sequence[PartitionState],
    observed_at: int,
    readings: Mapping[LogPosition, Reading],
) -> CommitEvidence:
    if known.has_reached_end:  # as nearly everywhere: nothing is left to learn
        return known
    # An end that was seen before the commit may have been passed by now.
    at_end = any(s.has_reached_end and s.log_observed_at >= observed_at for s in states)
    return known.and_seen(_rests(states, readings), at_end=at_end)


def _rests(
    states: Sequence[PartitionState], readings: Mapping[LogPosition, Reading]
) -> Iterable[Rest]:
    """Where a group stays at the last record. A transaction's marker is none."""
    for state in states:
        if state.rests_at_last_record and (place := state.to_read) is not None:
            reading = readings.get(place)
            if reading is not None and reading.outcome == "record":
                yield Rest(place.partition, state.log_end)


class KnownLateness(KnownByGroup[Lateness]):
    """Of one cluster's groups."""

    def of(self, group: GroupSnapshot) -> Lateness:
        return self._get(group) or {}

    def keep(self, group: GroupSnapshot, known: Lateness) -> None:
        """What a pass leaves to the next one."""
        of_home = self._groups[group.home_partition]
        if known:
            of_home[group.cluster, group.group] = known
        else:
            of_home.pop((group.cluster, group.group), None)

    def recall(self, home_partition: int, events: Iterable[FreshnessEvent]) -> None:
        """Begins with what was published last, by whichever instance."""
        recalled = {(event.cluster, event.group): _late(event) for event in events}
        self._groups[home_partition] = {key: late for key, late in recalled.items() if late}


def _late(event: FreshnessEvent) -> Lateness:
    late: dict[str, dict[int, LateSince]] = defaultdict(dict)
    for topic, columns in event.topics.items():
        rows = zip(
            columns.partition,
            columns.committed,
            columns.late_since,
            columns.reason,
            strict=True,
        )
        for partition, committed, since, reason in rows:
            if since is not None:
                wrong = reason == "bad_timestamp"
                late[topic][partition] = LateSince(committed, since, has_wrong_time=wrong)
    return dict(late)
