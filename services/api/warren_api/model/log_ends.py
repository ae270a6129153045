"""Where logs start and end, each once however many groups consume it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from warren.contracts import TopicsEvent

from warren_api.model.group import GroupView


class LogEnds(NamedTuple):
    """A topic's partitions; None is unknown."""

    cluster: str
    topic: str
    partitions: list[int]
    starts: list[int | None]
    ends: list[int | None]


def log_ends(views: Iterable[GroupView]) -> list[LogEnds]:
    """Of groups that share a topic the last judged one has seen the newest ends."""
    newest: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
    for view in sorted(views, key=lambda view: view.event.evaluated_at):
        for topic, columns in view.event.topics.items():
            rows = zip(columns.partition, columns.log_start, columns.log_end, strict=True)
            known = {partition: (start, end) for partition, start, end in rows if end >= 0}
            newest.setdefault((view.cluster, topic), {}).update(known)
    return [_of_topic(cluster, topic, rows) for (cluster, topic), rows in newest.items()]


def unconsumed(logs: Iterable[LogEnds], listed: Iterable[TopicsEvent]) -> list[LogEnds]:
    """What collectors list beyond `logs`: topics and partitions that no group consumes."""
    consumed = {(log.cluster, log.topic): frozenset(log.partitions) for log in logs}
    found = []
    for event in listed:
        for topic, ends in event.log_ends.items():
            known = consumed.get((event.cluster, topic), frozenset())
            rows = {p: (-1, end) for p, end in enumerate(ends) if end >= 0 and p not in known}
            if rows:
                found.append(_of_topic(event.cluster, topic, rows))
    return found


def _of_topic(cluster: str, topic: str, rows: dict[int, tuple[int, int]]) -> LogEnds:
    starts = [start if start >= 0 else None for start, _ in rows.values()]
    return LogEnds(cluster, topic, list(rows), starts, [end for _, end in rows.values()])
