"""Topics by cluster: where their logs end, how fast they grow, and the groups that consume them.

How fast groups consume is what the freshness service measured. Of topics that nobody measures, for
no group consumes them, rates are means over about a minute: the newest list of log ends against the
oldest of the last minute, records per second. Until a second one has been seen there is none.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from warren.contracts import FreshnessEvent, LagEvent, TopicFreshness, TopicLag, TopicsEvent

from warren_api.model.deleted_topics import DeletedTopic, DeletedTopics, TopicName
from warren_api.model.partitions import least_total

WINDOW_MS = 60_000
_POINTS_KEPT = 64


class _Point(NamedTuple):
    """Records produced up to `at` (Unix ms), from an arbitrary zero on."""

    at: int
    produced: int


class Movement(NamedTuple):
    """Observations of the last minute."""

    points: tuple[_Point, ...]

    @classmethod
    def first(cls, at: int) -> Self:
        return cls((_Point(at, 0),))

    def then(self, at: int, produced: int) -> Self:
        """So many records later. What is not newer than the last is a replay: no change."""
        last = self.points[-1]
        if at <= last.at:
            return self
        newest = _Point(at, last.produced + produced)
        points = (*self.points, newest)[-_POINTS_KEPT:]
        while len(points) > 2 and points[1].at <= at - WINDOW_MS:
            points = points[1:]
        return type(self)(points)

    @property
    def at(self) -> int:
        """The newest, Unix milliseconds."""
        return self.points[-1].at

    @property
    def produce_rate(self) -> float | None:
        first, last = self.points[0], self.points[-1]
        milliseconds = last.at - first.at
        return (last.produced - first.produced) * 1000 / milliseconds if milliseconds > 0 else None


@dataclass(frozen=True, slots=True)
class TopicProgress:
    """One group on one topic: its newest positions, judged at `at` (Unix ms), and what freshness
    measured there."""

    columns: TopicLag
    at: int
    measured: TopicFreshness | None = None

    @property
    def produce_rate(self) -> float | None:
        """Records per second, as far as known."""
        return _sum(self.measured.produce_rate) if self.measured else None

    @property
    def consume_rate(self) -> float | None:
        return _sum(self.measured.consume_rate) if self.measured else None

    @property
    def lag(self) -> int | None:
        """Sum of the lags; None when none is known, or that of some partition is not."""
        is_known = any(lag is not None for lag in self.columns.lag)
        return least_total(self.columns) if is_known else None

    @property
    def catch_up_ms(self) -> int | None:
        """Until the slowest partition's lag is gone if the rates stay as they are; None when that
        of one does not shrink, or is unknown."""
        if self.measured is None:
            return None
        left = self.measured.catch_up_ms
        known = [milliseconds for milliseconds in left if milliseconds is not None]
        return max(known, default=None) if len(known) == len(left) else None


def steps(before: Iterable[int], after: Iterable[int]) -> int:
    """Sum of the steps forward. Unknown offsets (-1), steps back and what has no counterpart
    before (a new partition) count 0.
    """
    return sum(new - old for old, new in zip(before, after, strict=False) if 0 <= old < new)


def _sum(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None


UNKNOWN = -1


class ListedTopic(NamedTuple):
    """A topic in the list of all topics of a cluster, and how it has grown."""

    log_ends: Sequence[int]
    movement: Movement

    def followed_by(self, log_ends: Sequence[int], at: int) -> Self:
        produced = steps(self.log_ends, log_ends)
        return type(self)(log_ends, self.movement.then(at, produced))


class LogRange(NamedTuple):
    """Of one partition; None where unknown."""

    partition: int
    log_start: int | None
    log_end: int | None


@dataclass(frozen=True, slots=True)
class TopicView:
    """A topic; `groups` by name. `listed`: None when the collector has not listed it. `left`: what
    the last group to go saw, while that is newer than the list.
    """

    cluster: str
    topic: str
    groups: dict[str, TopicProgress]
    listed: ListedTopic | None
    left: TopicProgress | None = None

    @property
    def produce_rate(self) -> float | None:
        """Records per second: what the group that sees most of it has seen, or the list."""
        seen = [group.produce_rate for group in self.groups.values()]
        if self.listed:
            seen.append(self.listed.movement.produce_rate)
        return max(_known(seen), default=None)

    @property
    def consume_rate(self) -> float | None:
        """Records per second of all groups together."""
        rates = list(_known(group.consume_rate for group in self.groups.values()))
        return sum(rates) if rates else None

    @property
    def max_lag(self) -> int | None:
        """Of the group that is furthest behind on it, records."""
        return max((g.lag for g in self.groups.values() if g.lag is not None), default=None)

    @property
    def partition_count(self) -> int:
        numbers = {p for group in self.groups.values() for p in group.columns.partition}
        return len(numbers.union(range(len(self.listed.log_ends) if self.listed else 0)))

    def partitions(self) -> list[LogRange]:
        """By number, each as it was last seen."""
        newest: dict[int, LogRange] = {}
        for _, observed in sorted(self._observations(), key=lambda observation: observation[0]):
            for number, start, end in observed:
                before = newest.get(number, LogRange(number, None, None))
                newest[number] = LogRange(
                    number,
                    before.log_start if start < 0 else start,
                    before.log_end if end < 0 else end,
                )
        return [newest[number] for number in sorted(newest)]

    def log_ends(self) -> list[int]:
        """By partition, UNKNOWN (-1) where nobody knows."""
        known = {log.partition: log.log_end for log in self.partitions()}
        ends = (known.get(partition) for partition in range(1 + max(known, default=-1)))
        return [UNKNOWN if end is None else end for end in ends]

    def _observations(self) -> Iterator[tuple[int, Iterable[tuple[int, int, int]]]]:
        """When, and of each partition its number, log start and log end, -1 where unknown."""
        if self.listed:
            ends = self.listed.log_ends
            yield self.listed.movement.at, ((number, -1, end) for number, end in enumerate(ends))
        for group in (*self.groups.values(), *([self.left] if self.left else [])):
            columns = group.columns
            yield (
                group.at,
                zip(columns.partition, columns.log_start, columns.log_end, strict=True),
            )


class TopicIndex:
    """Topics by (cluster, topic). Fed by one thread, read by many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._topics: dict[TopicName, dict[str, TopicProgress]] = {}
        self._measured: dict[tuple[str, str], Mapping[str, TopicFreshness]] = {}
        self._of_group: dict[tuple[str, str], frozenset[str]] = {}
        self._listed: dict[TopicName, ListedTopic] = {}
        self._deleted = DeletedTopics()
        self._left: dict[TopicName, TopicProgress] = {}
        """What the last group to go saw of a listed topic, while that is newer than the list."""

    def apply(self, event: LagEvent) -> None:
        """Takes the next evaluation of a group, whole."""
        cluster, group, at = event.cluster, event.group, event.evaluated_at
        with self._lock:
            self._drop(cluster, group, self._topics_of(cluster, group) - event.topics.keys())
            for topic, columns in event.topics.items():
                groups = self._topics.setdefault((cluster, topic), {})
                groups[group] = TopicProgress(columns, at)
            self._of_group[cluster, group] = frozenset(event.topics)

    def measure(self, cluster: str, group: str, event: FreshnessEvent | None) -> None:
        """Takes the next measurement of a group; None: there is none any more."""
        with self._lock:
            if event is None:
                self._measured.pop((cluster, group), None)
            else:
                self._measured[cluster, group] = event.topics

    def forget(self, cluster: str, group: str) -> None:
        """The group is gone."""
        with self._lock:
            self._drop(cluster, group, self._topics_of(cluster, group))
            self._of_group.pop((cluster, group), None)
            self._measured.pop((cluster, group), None)

    def list_all(self, event: TopicsEvent) -> None:
        """Takes the next list of all topics of a cluster."""
        at = event.observed_at
        with self._lock:
            before = self._unlist(event.cluster)
            self._deleted.list_all(event.cluster, before.keys(), event.log_ends.keys(), at)
            for topic, ends in event.log_ends.items():
                last = before.get(topic)
                self._listed[event.cluster, topic] = (
                    last.followed_by(ends, at) if last else ListedTopic(ends, Movement.first(at))
                )
            self._left = {
                name: left
                for name, left in self._left.items()
                if name[0] != event.cluster or (left.at > at and name in self._listed)
            }

    def brought_up_to_date(self, event: TopicsEvent) -> TopicsEvent:
        """A cluster's newest list, with the log ends that groups which are gone saw after it."""
        with self._lock:
            left = {name[1]: seen for name, seen in self._left.items() if name[0] == event.cluster}
        if not left:
            return event
        log_ends = dict(event.log_ends)
        for topic in left.keys() & log_ends.keys():
            columns, ends = left[topic].columns, list(log_ends[topic])
            for partition, end in zip(columns.partition, columns.log_end, strict=True):
                if end >= 0 and partition < len(ends):
                    ends[partition] = end
            log_ends[topic] = ends
        return event.model_copy(update={"log_ends": log_ends})

    def unlist(self, cluster: str) -> None:
        """There is no list of a cluster's topics any more."""
        with self._lock:
            for name in self._unlist(cluster):
                self._left.pop((cluster, name), None)

    def _unlist(self, cluster: str) -> dict[str, ListedTopic]:
        names = [name for name in self._listed if name[0] == cluster]
        return {name[1]: self._listed.pop(name) for name in names}

    def _topics_of(self, cluster: str, group: str) -> frozenset[str]:
        return self._of_group.get((cluster, group), frozenset())

    def _drop(self, cluster: str, group: str, topics: Iterable[str]) -> None:
        for topic in topics:
            name = cluster, topic
            groups = self._topics[name]
            self._remember(name, groups.pop(group))
            self._deleted.leave(name, group)
            if not groups:
                del self._topics[name]

    def _remember(self, name: TopicName, seen: TopicProgress) -> None:
        """Where logs ended does not go back because a group goes."""
        listed, left = self._listed.get(name), self._left.get(name)
        if listed and seen.at > max(listed.movement.at, left.at if left else seen.at - 1):
            self._left[name] = seen

    def topic(self, cluster: str, topic: str) -> TopicView | None:
        with self._lock:
            if (cluster, topic) not in self._names():
                return None
            return self._view((cluster, topic))

    def deleted(self, cluster: str, topic: str) -> DeletedTopic | None:
        """None where it is there, or nothing is remembered of it."""
        with self._lock:
            return self._deleted.topic((cluster, topic))

    def deleted_under(self, cluster: str, group: str) -> list[DeletedTopic]:
        """Topics that the group read and that are deleted, the newest first."""
        with self._lock:
            return self._deleted.read_by(cluster, group)

    def topics(self) -> list[TopicView]:
        """By cluster and name."""
        with self._lock:
            return [self._view(name) for name in sorted(self._names())]

    def names(self, cluster: str) -> list[str]:
        """Topics of a cluster, sorted; also of those that nobody consumes."""
        with self._lock:
            return sorted(topic for name, topic in self._names() if name == cluster)

    def progress(self, cluster: str, group: str) -> dict[str, TopicProgress]:
        """Of one group, by topic."""
        with self._lock:
            topics = sorted(self._topics_of(cluster, group))
            return {topic: self._progress((cluster, topic), group) for topic in topics}

    def _progress(self, name: TopicName, group: str) -> TopicProgress:
        cluster, topic = name
        measured = self._measured.get((cluster, group), {}).get(topic)
        return replace(self._topics[name][group], measured=measured)

    def _names(self) -> set[TopicName]:
        return self._topics.keys() | self._listed.keys()

    def _view(self, name: TopicName) -> TopicView:
        groups = {group: self._progress(name, group) for group in self._topics.get(name, {})}
        return TopicView(*name, groups, self._listed.get(name), self._left.get(name))


def _known(rates: Iterable[float | None]) -> Iterator[float]:
    return (rate for rate in rates if rate is not None)
