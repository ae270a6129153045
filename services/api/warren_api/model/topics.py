"""Topics by cluster: where their logs end, how fast they grow, and the groups that consume them.

How fast groups consume is what the freshness service measured. Of topics that nobody measures, for
no group consumes them, rates are means over about a minute: the newest list of log ends against the
oldest of the last minute, records per second. Until a second one has been seen there is none.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from warren.contracts import TopicFreshness, TopicLag, TopicsEvent

from warren_api.model.group import GroupView
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
    """A topic; `groups` by name. `listed`: None when the collector has not listed it."""

    cluster: str
    topic: str
    groups: dict[str, TopicProgress]
    listed: ListedTopic | None

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
        for group in self.groups.values():
            columns = group.columns
            yield (
                group.at,
                zip(columns.partition, columns.log_start, columns.log_end, strict=True),
            )


TopicName = tuple[str, str]
"""Cluster and topic."""


class TopicIndex:
    """Topics as lists of all topics and as groups have them. Lists are fed by one thread, read by
    many.
    """

    def __init__(self, groups: Callable[[], Iterable[GroupView]]) -> None:
        self._groups = groups
        self._listed: dict[TopicName, ListedTopic] = {}  # replaced whole

    def list_all(self, event: TopicsEvent) -> None:
        """Takes the next list of all topics of a cluster."""
        at, before = event.observed_at, self._listed
        self.unlist(event.cluster)
        found = dict(self._listed)
        for topic, ends in event.log_ends.items():
            name = event.cluster, topic
            last = before.get(name)
            found[name] = (
                last.followed_by(ends, at) if last else ListedTopic(ends, Movement.first(at))
            )
        self._listed = found

    def unlist(self, cluster: str) -> None:
        """There is no list of a cluster's topics any more."""
        self._listed = {name: each for name, each in self._listed.items() if name[0] != cluster}

    def topic(self, cluster: str, topic: str) -> TopicView | None:
        groups = {
            view.group: progress_on(view, topic)
            for view in self._groups()
            if view.cluster == cluster and topic in view.event.topics
        }
        listed = self._listed.get((cluster, topic))
        return TopicView(cluster, topic, groups, listed) if groups or listed else None

    def topics(self) -> list[TopicView]:
        """By cluster and name."""
        listed = self._listed
        groups = defaultdict[TopicName, dict[str, TopicProgress]](dict)
        for view in self._groups():
            for topic in view.event.topics:
                groups[view.cluster, topic][view.group] = progress_on(view, topic)
        names = sorted(groups.keys() | listed.keys())
        return [TopicView(*name, groups.get(name, {}), listed.get(name)) for name in names]

    def names(self, cluster: str) -> list[str]:
        """Topics of a cluster, sorted; also of those that nobody consumes."""
        found = {topic for name, topic in self._listed if name == cluster}
        consumed = (view.event.topics for view in self._groups() if view.cluster == cluster)
        return sorted(found.union(*consumed))


def progress_on(view: GroupView, topic: str) -> TopicProgress:
    """Of a group, on one of its topics."""
    measured = view.measured.event.topics.get(topic) if view.measured else None
    return TopicProgress(view.event.topics[topic], view.event.evaluated_at, measured)


def _known(rates: Iterable[float | None]) -> Iterator[float]:
    return (rate for rate in rates if rate is not None)
