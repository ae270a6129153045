"""Our series of groups, topics and partitions as they were judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warren.metrics import api_families as families

from warren_api.context import Verdicts
from warren_api.metrics.exposition import SampleLines, row_lines
from warren_api.metrics.series import (
    Block,
    Blocks,
    Collected,
    JudgedTopic,
    Series,
    Snapshot,
    Wanted,
    group_blocks,
    partition_blocks,
    topic_blocks,
)
from warren_api.model.group import GroupView

_GROUP_STATUSES = ("OK", "WARN", "ERR", "UNKNOWN")


def group_series(
    wanted: Wanted, snapshot: Snapshot, verdicts: Verdicts, now: int
) -> Iterator[Collected]:
    """`now`: Unix milliseconds."""
    views = snapshot.views
    yield from wanted.collect(_GROUPS, group_blocks(views))
    yield from wanted.collect([_statuses(verdicts)], _group_statuses(views))
    yield from wanted.collect(_PARTITION_COUNTS, _partition_statuses(views))
    in_trouble = [view for view in views if view.event.incident]
    yield from wanted.collect([_open_incidents(now)], group_blocks(in_trouble))
    yield from wanted.collect(_TOPICS, topic_blocks(snapshot.judged))
    yield from wanted.collect(_PARTITIONS, partition_blocks(snapshot.judged))


def _group_statuses(views: Sequence[GroupView]) -> Blocks[GroupView]:
    """One series per group and status that it could have."""

    def blocks(labels: Sequence[str]) -> list[Block[GroupView]]:
        rows = [(v.cluster, v.group, status) for v in views for status in _GROUP_STATUSES]
        return [Block(views, SampleLines(row_lines(labels, rows)))]

    return blocks


def _partition_statuses(views: Sequence[GroupView]) -> Blocks[GroupView]:
    """One series per group and status that some partition of it has."""

    def blocks(labels: Sequence[str]) -> list[Block[GroupView]]:
        rows = [(v.cluster, v.group, status) for v in views for status in v.partition_counts]
        return [Block(views, SampleLines(row_lines(labels, rows)))]

    return blocks


def _statuses(verdicts: Verdicts) -> Series[GroupView]:
    return Series(
        families.GROUP_STATUS,
        lambda views: [
            int(shown == status)
            for shown in (verdicts(view).status for view in views)
            for status in _GROUP_STATUSES
        ],
    )


def _open_incidents(now: int) -> Series[GroupView]:
    return Series(
        families.GROUP_OPEN_INCIDENT,
        lambda views: [
            max(now - view.event.incident.opened_at, 0) / 1000 if view.event.incident else None
            for view in views
        ],
    )


_GROUPS: tuple[Series[GroupView], ...] = (
    Series(families.GROUP_LAG, lambda views: [v.event.total_lag for v in views]),
    Series(families.GROUP_EVALUATED, lambda views: [v.event.evaluated_at / 1000 for v in views]),
)
_PARTITION_COUNTS: tuple[Series[GroupView], ...] = (
    Series(
        families.GROUP_PARTITIONS,
        lambda views: [count for v in views for count in v.partition_counts.values()],
    ),
)
_TOPICS: tuple[Series[JudgedTopic], ...] = (
    Series(
        families.TOPIC_LAG,
        lambda topics: [sum(lag or 0 for lag in topic.columns.lag) for topic in topics],
    ),
)
_PARTITIONS: tuple[Series[JudgedTopic], ...] = (
    Series(
        families.PARTITION_LAG,
        lambda topics: [lag for topic in topics for lag in topic.columns.lag],
    ),
)
