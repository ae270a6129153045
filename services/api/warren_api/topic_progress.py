"""How fast topics grow and groups consume them, from evaluations that follow one another.

Rates are means over about a minute: the newest evaluation against the oldest of the last minute,
records per second. Until a second evaluation has been seen there is none.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from warren.contracts import LagEvent, TopicLag

WINDOW_MS = 60_000
_POINTS_KEPT = 64

TopicName = tuple[str, str]


class _Point(NamedTuple):
    """Records produced and consumed up to `at` (Unix ms), from an arbitrary zero on."""

    at: int
    produced: int
    consumed: int


@dataclass(frozen=True, slots=True)
class TopicProgress:
    """One group on one topic: its newest positions and how they have moved."""

    columns: TopicLag
    points: tuple[_Point, ...]

    @classmethod
    def first(cls, columns: TopicLag, at: int) -> Self:
        return cls(columns, (_Point(at, 0, 0),))

    def followed_by(self, columns: TopicLag, at: int) -> Self:
        last = self.points[-1]
        if at <= last.at:  # a replay
            return type(self)(columns, self.points)
        produced, consumed = _moved(self.columns, columns)
        newest = _Point(at, last.produced + produced, last.consumed + consumed)
        points = (*self.points, newest)[-_POINTS_KEPT:]
        while len(points) > 2 and points[1].at <= at - WINDOW_MS:
            points = points[1:]
        return type(self)(columns, points)

    @property
    def at(self) -> int:
        """When it was last judged, Unix milliseconds."""
        return self.points[-1].at

    @property
    def produce_rate(self) -> float | None:
        first, last = self.points[0], self.points[-1]
        return _rate(last.produced - first.produced, last.at - first.at)

    @property
    def consume_rate(self) -> float | None:
        first, last = self.points[0], self.points[-1]
        return _rate(last.consumed - first.consumed, last.at - first.at)

    @property
    def lag(self) -> int | None:
        """Sum of the known lags; None when none is known."""
        known = [lag for lag in self.columns.lag if lag is not None]
        return sum(known) if known else None

    @property
    def catch_up_ms(self) -> int | None:
        """Until the lag is gone if the rates stay as they are; None when it does not shrink."""
        lag, produced, consumed = self.lag, self.produce_rate, self.consume_rate
        if lag == 0:
            return 0
        if lag is None or produced is None or consumed is None or consumed <= produced:
            return None
        return round(lag * 1000 / (consumed - produced))


def catch_up_ms(topics: Iterable[TopicProgress]) -> int | None:
    """Until the lag of all is gone; None when that of one does not shrink."""
    left = [progress.catch_up_ms for progress in topics]
    known = [milliseconds for milliseconds in left if milliseconds is not None]
    return max(known, default=None) if len(known) == len(left) else None


class LogRange(NamedTuple):
    """Of one partition; None where unknown."""

    partition: int
    log_start: int | None
    log_end: int | None


@dataclass(frozen=True, slots=True)
class TopicView:
    """A topic that some group consumes; `groups` by name."""

    cluster: str
    topic: str
    groups: dict[str, TopicProgress]

    @property
    def produce_rate(self) -> float | None:
        """Records per second: what the group that sees most of it has seen."""
        return max(_known(group.produce_rate for group in self.groups.values()), default=None)

    @property
    def consume_rate(self) -> float | None:
        """Records per second of all groups together."""
        rates = list(_known(group.consume_rate for group in self.groups.values()))
        return sum(rates) if rates else None

    @property
    def partition_count(self) -> int:
        return len({p for group in self.groups.values() for p in group.columns.partition})

    def partitions(self) -> list[LogRange]:
        """By number, each as the group that was judged last has seen it."""
        newest: dict[int, LogRange] = {}
        for group in sorted(self.groups.values(), key=lambda group: group.at):
            columns = group.columns
            for number, start, end in zip(
                columns.partition, columns.log_start, columns.log_end, strict=True
            ):
                before = newest.get(number, LogRange(number, None, None))
                newest[number] = LogRange(
                    number,
                    before.log_start if start < 0 else start,
                    before.log_end if end < 0 else end,
                )
        return [newest[number] for number in sorted(newest)]


class TopicIndex:
    """Topics by (cluster, topic). Fed by one thread, read by many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._topics: dict[TopicName, dict[str, TopicProgress]] = {}
        self._of_group: dict[tuple[str, str], frozenset[str]] = {}

    def apply(self, event: LagEvent) -> None:
        """Takes the next evaluation of a group, whole."""
        cluster, group, at = event.cluster, event.group, event.evaluated_at
        with self._lock:
            self._drop(cluster, group, self._topics_of(cluster, group) - event.topics.keys())
            for topic, columns in event.topics.items():
                groups = self._topics.setdefault((cluster, topic), {})
                last = groups.get(group)
                groups[group] = (
                    last.followed_by(columns, at) if last else TopicProgress.first(columns, at)
                )
            self._of_group[cluster, group] = frozenset(event.topics)

    def forget(self, cluster: str, group: str) -> None:
        """The group is gone."""
        with self._lock:
            self._drop(cluster, group, self._topics_of(cluster, group))
            self._of_group.pop((cluster, group), None)

    def _topics_of(self, cluster: str, group: str) -> frozenset[str]:
        return self._of_group.get((cluster, group), frozenset())

    def _drop(self, cluster: str, group: str, topics: Iterable[str]) -> None:
        for topic in topics:
            groups = self._topics[cluster, topic]
            del groups[group]
            if not groups:
                del self._topics[cluster, topic]

    def topic(self, cluster: str, topic: str) -> TopicView | None:
        with self._lock:
            groups = self._topics.get((cluster, topic))
            return None if groups is None else TopicView(cluster, topic, dict(groups))

    def topics(self) -> list[TopicView]:
        """By cluster and name."""
        with self._lock:
            return [TopicView(*name, dict(self._topics[name])) for name in sorted(self._topics)]

    def count(self, cluster: str) -> int:
        """Topics of a cluster."""
        with self._lock:
            return sum(name[0] == cluster for name in self._topics)

    def progress(self, cluster: str, group: str) -> dict[str, TopicProgress]:
        """Of one group, by topic."""
        with self._lock:
            topics = sorted(self._topics_of(cluster, group))
            return {topic: self._topics[cluster, topic][group] for topic in topics}


def _moved(before: TopicLag, after: TopicLag) -> tuple[int, int]:
    """Records produced and consumed in between. Steps back (a rewind, a new topic) count 0."""
    if before.partition == after.partition:
        ends_before, committed_before = before.log_end, before.committed
    else:
        places = {partition: index for index, partition in enumerate(before.partition)}
        known = [places.get(partition) for partition in after.partition]
        ends_before = [-1 if index is None else before.log_end[index] for index in known]
        committed_before = [-1 if index is None else before.committed[index] for index in known]
    return _steps(ends_before, after.log_end), _steps(committed_before, after.committed)


def _steps(before: Iterable[int], after: Iterable[int]) -> int:
    return sum(new - old for old, new in zip(before, after, strict=True) if 0 <= old < new)


def _rate(records: int, milliseconds: int) -> float | None:
    return records * 1000 / milliseconds if milliseconds > 0 else None


def _known(rates: Iterable[float | None]) -> Iterator[float]:
    return (rate for rate in rates if rate is not None)
