"""The windows of a group: every commit by which its partitions were judged."""

from __future__ import annotations

from collections.abc import Iterator

from warren.contracts import LagEvent
from warren.errors import ContractViolation
from warren_core.evaluation import UNKNOWN
from warren_core.evaluation.packed_windows import Commits, unpack
from warren_core.judgement.lag_parts import newest_commits

from warren_api.model.group import Edge, edge

Slots = list[Edge | None]
"""One per interval, oldest first, None where no commit is known yet; empty without any commit."""


def windows(event: LagEvent) -> dict[str, dict[int, Slots]]:
    """Slots by topic and partition.

    Of an evaluator that does not publish windows only the oldest and the newest commit are known.
    """
    commits = _commits(event)
    if commits is None:
        return {topic: dict(_edges(event, topic)) for topic in sorted(event.topics)}
    found: dict[str, dict[int, Slots]] = {}
    row = 0
    for topic in sorted(event.topics):
        found[topic] = {}
        for partition in event.topics[topic].partition:
            found[topic][partition] = _slots(commits, row)
            row += 1
    return found


def _commits(event: LagEvent) -> Commits | None:
    if event.windows is None:
        return None
    try:
        return unpack(event.windows, newest_commits(event))
    except (ContractViolation, OverflowError):
        return None


def _slots(commits: Commits, row: int) -> Slots:
    filled = int(commits.filled[row])
    if not filled:
        return []
    empty = commits.intervals - filled
    columns = commits.columns[:, row, empty:].tolist()
    return [None] * empty + [
        Edge(offset, at, observed_at, None if lag == UNKNOWN else lag)
        for offset, at, observed_at, lag in zip(*columns, strict=True)
    ]


def _edges(event: LagEvent, topic: str) -> Iterator[tuple[int, Slots]]:
    columns = event.topics[topic]
    for index, partition in enumerate(columns.partition):
        start, end = edge(columns.window_start, index), edge(columns.window_end, index)
        known = [start, end] if start != end else [end]
        yield partition, [commit for commit in known if commit is not None]
