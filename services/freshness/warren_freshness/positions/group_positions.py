"""Where the groups stand: the newest offset events, folded. No clock, no I/O."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from warren.contracts import OffsetEvent
from warren_core.clocks import is_ahead
from warren_core.judgement.state import Applied

from warren_freshness.positions.topic_columns import (
    LogRange,
    Pace,
    PartitionState,
    TopicColumns,
    partition_states,
)

GroupKey = tuple[str, str]
"""Cluster and group."""


@dataclass(slots=True)
class KnownGroup:
    """One group. `home_partition` is where its events are on warren.offsets; `newest` of these."""

    cluster: str
    group: str
    home_partition: int
    newest: Applied
    topics: dict[str, TopicColumns] = field(default_factory=dict)
    pace: dict[str, Pace] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """One group at one moment. `observed_at` is that of its newest event, Unix ms, and
    `home_partition` where its events are on warren.offsets and warren.freshness."""

    cluster: str
    group: str
    observed_at: int
    topics: Mapping[str, Sequence[PartitionState]]
    home_partition: int = 0

    @property
    def states(self) -> Iterator[PartitionState]:
        """Of all partitions."""
        return chain.from_iterable(self.topics.values())


class GroupPositions:
    """State of the home partitions that this instance owns.

    `folded`: how far warren.offsets is folded, by home partition whose groups are all known the
    offset after the last event. Replaced as a whole, in the event loop, once dead letters are safe.
    """

    def __init__(self) -> None:
        self.folded: Mapping[int, int] = {}
        self._groups: dict[GroupKey, KnownGroup] = {}
        self._logs: dict[tuple[str, str], LogRange] = {}
        self._deleted: dict[GroupKey, int] = {}

    def fold(self, event: OffsetEvent, home_partition: int, now: float = math.inf) -> bool:
        """Takes an event of that home partition in; False for one that observes nothing newer than
        what is there, unless that is dated ahead of `now`, Unix milliseconds.
        """
        if event.forget is not None:
            return False
        key = (event.cluster, event.group)
        known, applied = self._groups.get(key), Applied.by(event)
        counts = known is not None and not is_ahead(known.newest.observed_at, now)
        if known is not None and counts and not known.newest.is_before(event):
            return False
        if event.deleted:
            self._groups.pop(key, None)
            self._deleted[key] = home_partition
            return True
        self._deleted.pop(key, None)
        if known is None:
            known = self._groups[key] = KnownGroup(*key, home_partition, applied)
        known.newest = applied
        self._fold_topics(known, event)
        return True

    def __contains__(self, group: GroupKey) -> bool:
        """Whether the group is known, and this instance's."""
        return group in self._groups

    def snapshots(self, cluster: str, home_partitions: Iterable[int]) -> list[GroupSnapshot]:
        """Groups of a cluster whose events are in these home partitions, as they stand now."""
        wanted = set(home_partitions)
        return [
            self._snapshot(group)
            for group in self._groups.values()
            if group.cluster == cluster and group.home_partition in wanted
        ]

    def deleted(self, cluster: str) -> list[GroupKey]:
        """Deleted groups that are not published as such yet."""
        return [key for key in self._deleted if key[0] == cluster]

    def deletions_published(self, groups: Iterable[GroupKey]) -> None:
        """These deletions are published."""
        for key in groups:
            self._deleted.pop(key, None)

    def release(self, home_partitions: Iterable[int]) -> None:
        """Forgets what came from these: another instance owns them now."""
        gone = set(home_partitions)
        self._groups = {k: g for k, g in self._groups.items() if g.home_partition not in gone}
        self._deleted = {k: p for k, p in self._deleted.items() if p not in gone}
        used = {(g.cluster, topic) for g in self._groups.values() for topic in g.topics}
        self._logs = {k: log_range for k, log_range in self._logs.items() if k in used}

    def _fold_topics(self, known: KnownGroup, event: OffsetEvent) -> None:
        for topic, listed in event.topics.items():
            newer = TopicColumns.from_event(listed, event.observed_at)
            older = known.topics.get(topic)
            known.topics[topic] = newer if older is None else newer.after(older, event.observed_at)
            pace = known.pace.setdefault(topic, Pace())
            pace.update(newer.partition, newer.committed, event.observed_at)
            log_range = self._logs.setdefault((event.cluster, topic), LogRange())
            log_range.update(listed, event.observed_at)
        for topic, partitions in event.removed.items():
            columns = known.topics.get(topic)
            if columns is None:
                continue
            left = columns.without(partitions)
            if len(left):
                known.topics[topic] = left
            else:
                del known.topics[topic]
                known.pace.pop(topic, None)

    def _snapshot(self, group: KnownGroup) -> GroupSnapshot:
        return GroupSnapshot(
            cluster=group.cluster,
            group=group.group,
            observed_at=group.newest.observed_at,
            topics={
                topic: list(
                    partition_states(
                        topic, columns, self._logs[group.cluster, topic], group.pace[topic]
                    )
                )
                for topic, columns in group.topics.items()
            },
            home_partition=group.home_partition,
        )
