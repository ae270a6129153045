"""Where logs start and end, each once however many groups consume it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warren.contracts import TopicsEvent

from warren_api.exposition import SampleLines
from warren_api.group_view import GroupView
from warren_api.series import Block, Blocks


class LogEnds(NamedTuple):
    """A topic's partitions; None is unknown."""

    cluster: str
    topic: str
    partitions: list[int]
    starts: list[int | None]
    ends: list[int | None]


def log_ends(views: Iterable[GroupView], listed: Iterable[TopicsEvent] = ()) -> list[LogEnds]:
    """Of groups that share a topic the last judged one has seen the newest ends.

    `listed` has the topics that nobody consumes, too, but does not say where logs start.
    """
    newest: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
    for event in listed:
        for topic, ends in event.log_ends.items():
            known = {partition: (-1, end) for partition, end in enumerate(ends) if end >= 0}
            newest[event.cluster, topic] = known
    for view in sorted(views, key=lambda view: view.event.evaluated_at):
        for topic, columns in view.event.topics.items():
            rows = zip(columns.partition, columns.log_start, columns.log_end, strict=True)
            known = {partition: (start, end) for partition, start, end in rows if end >= 0}
            newest.setdefault((view.cluster, topic), {}).update(known)
    return [_of_topic(cluster, topic, rows) for (cluster, topic), rows in newest.items()]


def _of_topic(cluster: str, topic: str, rows: dict[int, tuple[int, int]]) -> LogEnds:
    starts = [start if start >= 0 else None for start, _ in rows.values()]
    return LogEnds(cluster, topic, list(rows), starts, [end for _, end in rows.values()])


def log_end_blocks(
    views: Sequence[GroupView], listed: Iterable[TopicsEvent] = ()
) -> Blocks[LogEnds]:
    """One series per partition of a topic."""

    def blocks(labels: Sequence[str]) -> list[Block[LogEnds]]:
        return [
            Block(
                [log],
                SampleLines.of_partitions(labels, (log.cluster, log.topic), log.partitions),
            )
            for log in log_ends(views, listed)
        ]

    return blocks
