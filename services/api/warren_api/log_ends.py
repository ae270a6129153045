"""Where logs start and end, each once however many groups consume it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warren.contracts import TopicsEvent

from warren_api.group_view import GroupView


class LogEnds(NamedTuple):
    """A topic's partitions; None is unknown."""

    cluster: str
    topic: str
    partitions: list[int]
    starts: list[int | None]
    ends: list[int]


def log_ends(views: Iterable[GroupView]) -> list[LogEnds]:
    """Of the partitions that groups consume. Of groups that share a topic the last judged one has
    seen the newest ends.
    """
    newest: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
    for view in sorted(views, key=lambda view: view.event.evaluated_at):
        for topic, columns in view.event.topics.items():
            rows = zip(columns.partition, columns.log_start, columns.log_end, strict=True)
            known = {partition: (start, end) for partition, start, end in rows if end >= 0}
            newest.setdefault((view.cluster, topic), {}).update(known)
    return [_of_topic(cluster, topic, rows) for (cluster, topic), rows in newest.items()]


def with_listed(logs: Iterable[LogEnds], listed: Iterable[TopicsEvent]) -> list[LogEnds]:
    """Also the logs that no group consumes."""
    known = {(log.cluster, log.topic): log for log in logs}
    for event in listed:
        for topic, ends in event.log_ends.items():
            name = event.cluster, topic
            known[name] = _completed(known.get(name, LogEnds(*name, [], [], [])), ends)
    return list(known.values())


def _completed(log: LogEnds, ends: Sequence[int]) -> LogEnds:
    there = set(log.partitions)
    more = [(number, end) for number, end in enumerate(ends) if end >= 0 and number not in there]
    return log._replace(
        partitions=[*log.partitions, *(number for number, _ in more)],
        starts=[*log.starts, *(None for _ in more)],
        ends=[*log.ends, *(end for _, end in more)],
    )


def _of_topic(cluster: str, topic: str, rows: dict[int, tuple[int, int]]) -> LogEnds:
    starts = [start if start >= 0 else None for start, _ in rows.values()]
    return LogEnds(cluster, topic, list(rows), starts, [end for _, end in rows.values()])
