"""Our series of groups, topics and partitions: as they were judged, and how late they are.

Where only a lower bound of lateness is known, that is the sample: an alert on a group that is late
fires all the more when its records are lost. What is wholly unknown has no sample. What was
measured long ago keeps its last one: see `warren_group_freshness_measured_timestamp_seconds`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from warren.contracts import FreshnessEvent, TopicFreshness
from warren.metrics import adopted_families
from warren.metrics import api_families as families

from warren_api.context import Verdicts
from warren_api.metrics.exposition import Value, row_lines
from warren_api.metrics.series import (
    Blocks,
    Collected,
    JudgedTopic,
    MeasuredTopic,
    Series,
    Snapshot,
    Wanted,
    blocks_of,
    group_blocks,
    partition_blocks,
    topic_blocks,
)
from warren_api.model.freshness import late_ms
from warren_api.model.group import GroupView
from warren_api.model.group_incidents import KnownIncidents
from warren_api.model.partitions import lags_to_show

_GROUP_STATUSES = ("OK", "WARN", "ERR", "UNKNOWN")


def group_series(
    wanted: Wanted, snapshot: Snapshot, verdicts: Verdicts, incidents: KnownIncidents, now: int
) -> Iterator[Collected]:
    """`now`: Unix milliseconds."""
    views = snapshot.views
    yield from wanted.collect(_GROUPS, group_blocks(views))
    yield from wanted.collect([_statuses(verdicts)], _by_status(views, lambda _: _GROUP_STATUSES))
    yield from wanted.collect(_PARTITION_COUNTS, _by_status(views, lambda v: v.partition_counts))
    open_ones = incidents.by_group
    in_trouble = [view for view in views if (view.cluster, view.group) in open_ones]
    yield from wanted.collect([_open_incidents(incidents, now)], group_blocks(in_trouble))
    yield from wanted.collect(_TOPICS, topic_blocks(snapshot.judged))
    yield from wanted.collect(_PARTITIONS, partition_blocks(snapshot.judged))


def _by_status(
    views: Sequence[GroupView], statuses: Callable[[GroupView], Collection[str]]
) -> Blocks[GroupView]:
    """One series per group and status."""

    def lines(labels: Sequence[str], some: Sequence[GroupView]) -> list[str]:
        rows = [(v.cluster, v.group, status) for v in some for status in statuses(v)]
        return row_lines(labels, rows)

    return blocks_of(views, lines, lambda view: len(statuses(view)))


def _statuses(verdicts: Verdicts) -> Series[GroupView]:
    return Series(
        families.GROUP_STATUS,
        lambda views: [
            int(shown == status)
            for shown in (verdicts(view).status for view in views)
            for status in _GROUP_STATUSES
        ],
    )


def _open_incidents(incidents: KnownIncidents, now: int) -> Series[GroupView]:
    """Of whichever conditions."""
    return Series(
        families.GROUP_OPEN_INCIDENT,
        lambda views: [
            max(now - incidents.by_group[view.cluster, view.group].opened_at, 0) / 1000
            for view in views
        ],
    )


_GROUPS: tuple[Series[GroupView], ...] = (
    Series(families.GROUP_LAG, lambda views: [v.least_lag for v in views]),
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
        lambda topics: [topic.total_lag for topic in topics],
    ),
)
_PARTITIONS: tuple[Series[JudgedTopic], ...] = (
    Series(
        families.PARTITION_LAG,
        lambda topics: [lag for topic in topics for lag in lags_to_show(topic.columns)],
    ),
)


def freshness_series(wanted: Wanted, snapshot: Snapshot) -> Iterator[Collected]:
    yield from wanted.collect(_MEASURED_GROUPS, group_blocks(snapshot.views))
    yield from wanted.collect(_MEASURED_TOPICS, topic_blocks(snapshot.measured))
    yield from wanted.collect(_MEASURED_PARTITIONS, partition_blocks(snapshot.measured))


def tesla_series(wanted: Wanted, snapshot: Snapshot) -> Iterator[Collected]:
    yield from wanted.collect(_TESLA, partition_blocks(snapshot.measured))


def _of_event(
    value: Callable[[FreshnessEvent], int | None],
) -> Callable[[Sequence[GroupView]], list[Value | None]]:
    """Seconds, of groups that were measured."""
    return lambda views: seconds(
        [value(view.freshness.event) if view.freshness else None for view in views]
    )


def _measured(
    value: Callable[[FreshnessEvent], float | None],
) -> Callable[[Sequence[GroupView]], list[Value | None]]:
    return lambda views: [value(v.freshness.event) if v.freshness else None for v in views]


def _rates(
    column: Callable[[TopicFreshness], list[float | None]],
) -> Callable[[Sequence[MeasuredTopic]], list[Value | None]]:
    """Of all partitions together; those that are not known count nothing, as in the event."""
    return lambda topics: [_sum(column(topic.columns)) for topic in topics]


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def of_columns(
    column: Callable[[TopicFreshness], list[int | None]],
) -> Callable[[Sequence[MeasuredTopic]], list[Value | None]]:
    """Seconds."""
    return lambda topics: seconds([value for t in topics for value in column(t.columns)])


def seconds(milliseconds: Sequence[int | None]) -> list[Value | None]:
    return [None if value is None else value / 1000 for value in milliseconds]


def _latest(topic: MeasuredTopic) -> int | None:
    known = (late for late in late_ms(topic.columns) if late is not None)
    return max(known, default=None)


_MEASURED_GROUPS: tuple[Series[GroupView], ...] = (
    Series(
        families.GROUP_FRESHNESS,
        lambda views: seconds([v.freshness.late_ms if v.freshness else None for v in views]),
    ),
    Series(families.GROUP_TIME_TO_LOSS, _of_event(lambda event: event.time_to_loss_ms)),
    Series(
        families.GROUP_RUNNING_OUT,
        lambda views: seconds([v.runs_out_in_ms for v in views]),
    ),
    Series(families.GROUP_FRESHNESS_MEASURED, _of_event(lambda event: event.measured_at)),
    Series(
        families.GROUP_FRESHNESS_UNKNOWN,
        lambda views: [v.freshness.unknown_partitions if v.freshness else None for v in views],
    ),
    Series(families.GROUP_LOST_RECORDS, lambda views: [v.lost_records for v in views]),
    Series(families.GROUP_PRODUCE_RATE, _measured(lambda event: event.produce_rate)),
    Series(families.GROUP_CONSUME_RATE, _measured(lambda event: event.consume_rate)),
    Series(families.GROUP_TIME_TO_CATCH_UP, _of_event(lambda event: event.time_to_catch_up_ms)),
)
_MEASURED_TOPICS: tuple[Series[MeasuredTopic], ...] = (
    Series(families.TOPIC_FRESHNESS, lambda topics: seconds([_latest(t) for t in topics])),
    Series(families.TOPIC_PRODUCE_RATE, _rates(lambda columns: columns.produce_rate)),
    Series(families.TOPIC_CONSUME_RATE, _rates(lambda columns: columns.consume_rate)),
)
_MEASURED_PARTITIONS: tuple[Series[MeasuredTopic], ...] = (
    Series(families.PARTITION_FRESHNESS, of_columns(late_ms)),
    Series(families.PARTITION_TIME_TO_LOSS, of_columns(lambda columns: columns.time_to_loss_ms)),
    Series(
        families.PARTITION_RETENTION_LEFT,
        lambda topics: [left for t in topics for left in t.columns.retention_left],
    ),
    Series(families.PARTITION_COMMIT_LAG, of_columns(lambda columns: columns.commit_lag_ms)),
    Series(families.PARTITION_APPEND_LAG, of_columns(lambda columns: columns.append_lag_ms)),
)
_TESLA: tuple[Series[MeasuredTopic], ...] = (
    Series(
        adopted_families.TESLA_FRESHNESS,
        lambda topics: [late for topic in topics for late in late_ms(topic.columns)],
    ),
)
