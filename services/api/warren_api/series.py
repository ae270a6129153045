"""Families whose samples come from many things alike: groups, topics of groups, their partitions.

A family is declared with the function that gets its values out of such things. Families with the
same labels share their lines, which are made once per scrape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from warren.contracts import TopicFreshness, TopicLag
from warren.metrics.family import Family

from warren_api.exposition import SampleLines, Value, head
from warren_api.group_view import GroupView

_AT_ONCE = 1000  # series that are written in one go: a tenth of a millisecond


class JudgedTopic(NamedTuple):
    """A topic of a group as the evaluation has it."""

    cluster: str
    group: str
    topic: str
    columns: TopicLag


class MeasuredTopic(NamedTuple):
    """A topic of a group as the freshness service measured it."""

    cluster: str
    group: str
    topic: str
    columns: TopicFreshness


GroupTopic = TypeVar("GroupTopic", JudgedTopic, MeasuredTopic)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Series(Generic[Item]):
    """A family and its values for some items, in the order of their lines; None gives no sample."""

    family: Family
    values: Callable[[Sequence[Item]], Sequence[Value | None]]


@dataclass(frozen=True, slots=True)
class Block(Generic[Item]):
    """Some items and the lines of their series."""

    items: Sequence[Item]
    lines: SampleLines


Blocks = Callable[[Sequence[str]], list[Block[Item]]]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the families that are wanted; of the others it costs nothing."""

    wanted: Callable[[Family], bool]
    openmetrics: bool = False

    def write(self, declared: Iterable[Series[Item]], blocks: Blocks[Item]) -> Iterator[bytes]:
        """`blocks` gives all items with lines for the label names that it is called with."""
        kept = [series for series in declared if self.wanted(series.family)]
        for labels, alike in groupby(kept, key=lambda series: series.family.labels):
            of_labels = blocks(labels)
            for series in alike:
                yield head(series.family, openmetrics=self.openmetrics)
                for block in of_labels:
                    yield block.lines.written(series.family.name, series.values(block.items))

    def write_one(self, family: Family, value: Value) -> Iterator[bytes]:
        """A family without labels."""
        if self.wanted(family):
            yield head(family, openmetrics=self.openmetrics)
            yield SampleLines.of_rows((), [()]).written(family.name, [value])


def group_blocks(views: Sequence[GroupView]) -> Blocks[GroupView]:
    """One series per group."""

    def blocks(labels: Sequence[str]) -> list[Block[GroupView]]:
        return [
            Block(some, SampleLines.of_rows(labels, [(v.cluster, v.group) for v in some]))
            for some in _in_parts(views)
        ]

    return blocks


def topic_blocks(topics: Sequence[GroupTopic]) -> Blocks[GroupTopic]:
    """One series per topic of a group."""

    def blocks(labels: Sequence[str]) -> list[Block[GroupTopic]]:
        return [
            Block(some, SampleLines.of_rows(labels, [topic[:3] for topic in some]))
            for some in _in_parts(topics)
        ]

    return blocks


def partition_blocks(topics: Sequence[GroupTopic], more: Sequence[str] = ()) -> Blocks[GroupTopic]:
    """One series per partition of a group; `more` are the values of labels after `partition`."""

    def lines(labels: Sequence[str], topic: GroupTopic) -> SampleLines:
        return SampleLines.of_partitions(labels, (*topic[:3], *more), topic.columns.partition)

    def blocks(labels: Sequence[str]) -> list[Block[GroupTopic]]:
        return [
            Block(some, SampleLines.joined([lines(labels, topic) for topic in some]))
            for some in _in_parts(topics, _partition_count)
        ]

    return blocks


def _partition_count(topic: JudgedTopic | MeasuredTopic) -> int:
    return len(topic.columns.partition)


def judged_topics(views: Iterable[GroupView]) -> list[JudgedTopic]:
    return [
        JudgedTopic(view.cluster, view.group, topic, columns)
        for view in views
        for topic, columns in view.event.topics.items()
    ]


def measured_topics(views: Iterable[GroupView]) -> list[MeasuredTopic]:
    return [
        MeasuredTopic(view.cluster, view.group, topic, columns)
        for view in views
        if view.freshness
        for topic, columns in view.freshness.event.topics.items()
    ]


def _in_parts(items: Sequence[Item], size: Callable[[Item], int] = lambda _: 1) -> list[list[Item]]:
    """The items in parts of a thousand series or so, so that no step holds Python's lock long."""
    parts: list[list[Item]] = []
    room = 0
    for item in items:
        if room <= 0:
            parts.append([])
            room = _AT_ONCE
        parts[-1].append(item)
        room -= size(item)
    return parts
