"""Our series of groups, topics and partitions: as they were judged, and how late they are.

Where only a lower bound of lateness is known, that is the sample: an alert on a group that is late
fires all the more when its records are lost. What is wholly unknown has no sample. What was
measured long ago keeps its last one: see `warren_group_freshness_measured_timestamp_seconds`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby

from warren.contracts import FreshnessEvent, Status, TopicsEvent
from warren.metrics import adopted_families as adopted, api_families as families
from warren_core.standing.figures import loss_in

from warren_api.context import Verdicts
from warren_api.metrics.series import (
    Collected,
    JudgedTopic,
    LogEnds,
    MeasuredTopic,
    Series,
    Snapshot,
    Things,
    Value,
    Wanted,
    group_things,
    log_things,
    partition_lines,
    partition_things,
    row_lines,
    topic_things,
    unconsumed,
)
from warren_api.model.freshness import late_ms
from warren_api.model.group import GroupView, group_status, partition_status
from warren_api.model.incidents import KnownIncidents
from warren_api.model.partitions import burrow_lags, lags_to_show, least_total

_GROUP_STATUSES = ("OK", "WARN", "ERR", "UNKNOWN")


def group_series(
    wanted: Wanted, snapshot: Snapshot, verdicts: Verdicts, incidents: KnownIncidents, now: int
) -> Iterator[Collected]:
    """`now`: Unix milliseconds."""

    def statuses(view: GroupView) -> list[Value | None]:
        shown = verdicts(view).status
        return [int(shown == status) for status in _GROUP_STATUSES]

    views = snapshot.views
    yield from wanted.collect(_GROUPS, group_things(views))
    by_status = _by_status(views, lambda _: _GROUP_STATUSES)
    yield from wanted.collect([Series(families.GROUP_STATUS, statuses)], by_status)
    yield from wanted.collect(_PARTITION_COUNTS, _by_status(views, lambda v: v.partition_counts))
    in_trouble = [view for view in views if (view.cluster, view.group) in incidents.by_group]
    opened: list[Series[GroupView]] = [
        Series(
            families.GROUP_OPEN_INCIDENT,
            lambda v: [max(now - incidents.by_group[v.cluster, v.group].opened_at, 0) / 1000],
        )
    ]
    yield from wanted.collect(opened, group_things(in_trouble))
    yield from wanted.collect(_TOPICS, topic_things(snapshot.judged))
    yield from wanted.collect(_PARTITIONS, partition_things(snapshot.judged))
    yield from wanted.collect(_MEASURED_GROUPS, group_things(views))
    yield from wanted.collect(_MEASURED_TOPICS, topic_things(snapshot.measured))
    yield from wanted.collect(_MEASURED_PARTITIONS, partition_things(snapshot.measured))


def _by_status(
    views: Sequence[GroupView], statuses: Callable[[GroupView], Collection[str]]
) -> Things[GroupView]:
    """One series per group and status."""
    return Things(
        views,
        lambda labels, v: row_lines(labels, [(v.cluster, v.group, each) for each in statuses(v)]),
        lambda view: len(statuses(view)),
    )


def seconds(milliseconds: Iterable[int | None]) -> list[Value | None]:
    return [None if value is None else value / 1000 for value in milliseconds]


def _of_event(
    value: Callable[[FreshnessEvent], int | None],
) -> Callable[[GroupView], list[Value | None]]:
    """Seconds, of groups that were measured."""
    return lambda v: seconds([value(v.freshness.event) if v.freshness else None])


def _sum(values: Sequence[float | None]) -> list[Value | None]:
    """Of all partitions together; those that are not known count nothing, as in the event."""
    known = [value for value in values if value is not None]
    return [sum(known) if known else None]


def _latest(topic: MeasuredTopic) -> list[Value | None]:
    known = (late for late in late_ms(topic.columns) if late is not None)
    return seconds([max(known, default=None)])


_GROUPS: tuple[Series[GroupView], ...] = (
    Series(families.GROUP_LAG, lambda v: [v.least_lag]),
    Series(families.GROUP_EVALUATED, lambda v: [v.event.evaluated_at / 1000]),
)
_PARTITION_COUNTS: tuple[Series[GroupView], ...] = (
    Series(families.GROUP_PARTITIONS, lambda v: v.partition_counts.values()),
)
_TOPICS: tuple[Series[JudgedTopic], ...] = (
    Series(families.TOPIC_LAG, lambda topic: [least_total(topic.columns)]),
)
_PARTITIONS: tuple[Series[JudgedTopic], ...] = (
    Series(families.PARTITION_LAG, lambda topic: lags_to_show(topic.columns)),
)
_MEASURED_GROUPS: tuple[Series[GroupView], ...] = (
    Series(
        families.GROUP_FRESHNESS,
        lambda v: seconds([v.freshness.late_ms if v.freshness else None]),
    ),
    Series(families.GROUP_TIME_TO_LOSS, _of_event(lambda event: event.time_to_loss_ms)),
    Series(
        families.GROUP_RUNNING_OUT,
        lambda v: seconds([loss_in(v.freshness.event, v.event) if v.freshness else None]),
    ),
    Series(families.GROUP_FRESHNESS_MEASURED, _of_event(lambda event: event.measured_at)),
    Series(
        families.GROUP_FRESHNESS_UNKNOWN,
        lambda v: [v.freshness.unknown_partitions if v.freshness else None],
    ),
    Series(families.GROUP_LOST_RECORDS, lambda v: [v.lost_records]),
    Series(
        families.GROUP_PRODUCE_RATE,
        lambda v: [v.freshness.event.produce_rate if v.freshness else None],
    ),
    Series(
        families.GROUP_CONSUME_RATE,
        lambda v: [v.freshness.event.consume_rate if v.freshness else None],
    ),
    Series(families.GROUP_TIME_TO_CATCH_UP, _of_event(lambda event: event.time_to_catch_up_ms)),
)
_MEASURED_TOPICS: tuple[Series[MeasuredTopic], ...] = (
    Series(families.TOPIC_FRESHNESS, _latest),
    Series(families.TOPIC_PRODUCE_RATE, lambda topic: _sum(topic.columns.produce_rate)),
    Series(families.TOPIC_CONSUME_RATE, lambda topic: _sum(topic.columns.consume_rate)),
)
_MEASURED_PARTITIONS: tuple[Series[MeasuredTopic], ...] = (
    Series(families.PARTITION_FRESHNESS, lambda topic: seconds(late_ms(topic.columns))),
    Series(families.PARTITION_TIME_TO_LOSS, lambda topic: seconds(topic.columns.time_to_loss_ms)),
    Series(families.PARTITION_RETENTION_LEFT, lambda topic: topic.columns.retention_left),
    Series(families.PARTITION_COMMIT_LAG, lambda topic: seconds(topic.columns.commit_lag_ms)),
    Series(families.PARTITION_APPEND_LAG, lambda topic: seconds(topic.columns.append_lag_ms)),
)


_CODES: dict[str, int] = {name: int(status) for name, status in Status.__members__.items()}


def adopted_series(
    wanted: Wanted, snapshot: Snapshot, listed: Sequence[TopicsEvent]
) -> Iterator[Collected]:
    """`listed`: all topics of the clusters whose collectors list them."""
    groups, judged, logs = snapshot.views, snapshot.judged, snapshot.logs
    all_logs = [*logs, *unconsumed(logs, listed)]
    yield from wanted.collect(_BURROW_GROUPS, group_things(groups))
    yield from wanted.collect(_BURROW_PARTITIONS, partition_things(judged))
    yield from wanted.collect(_BURROW_LOGS, log_things(all_logs))
    yield from wanted.collect(_EXPORTER_GROUPS, group_things(groups))
    yield from wanted.collect(_EXPORTER_TOPICS, topic_things(judged))
    yield from wanted.collect(_EXPORTER_JUDGED, partition_things(judged, _member_lines))
    measured = snapshot.measured
    yield from wanted.collect(_EXPORTER_MEASURED, partition_things(measured, _member_lines))
    yield from wanted.collect(_EXPORTER_LOGS, log_things(logs))
    yield from wanted.collect(_TESLA, partition_things(measured))


def _where_full(topic: JudgedTopic, values: Sequence[Value | None]) -> list[Value | None]:
    """Only where the window is full, as in Burrow."""
    return [
        value if complete == 1.0 else None
        for value, complete in zip(values, topic.columns.complete, strict=True)
    ]


_BURROW_GROUPS: tuple[Series[GroupView], ...] = (
    Series(adopted.BURROW_TOTAL_LAG, lambda v: [v.burrow_total_lag]),
    Series(adopted.BURROW_STATUS, lambda v: [_CODES[group_status(v)]]),
)
_BURROW_PARTITIONS: tuple[Series[JudgedTopic], ...] = (
    Series(adopted.BURROW_PARTITION_LAG, lambda topic: burrow_lags(topic.columns)),
    Series(
        adopted.BURROW_PARTITION_STATUS,
        lambda topic: _where_full(
            topic, [_CODES[partition_status(status, None)] for status in topic.columns.status]
        ),
    ),
    Series(
        adopted.BURROW_CURRENT_OFFSET,
        lambda topic: _where_full(topic, topic.columns.window_end.offset),
    ),
)
_BURROW_LOGS: tuple[Series[LogEnds], ...] = (
    Series(adopted.BURROW_TOPIC_OFFSET, lambda log: log.ends),
)


# member_host, consumer_id and client_id where no member is known: the exporter's own word.
_NO_MEMBER = ("unknown", "unknown", "unknown")


def _member_lines(labels: Sequence[str], topic: JudgedTopic | MeasuredTopic) -> list[str]:
    """With the member that owns each partition."""
    partitions = topic.columns.partition
    owners = topic.membership.owners if topic.membership else {}
    lines: list[str] = []
    for owner, run in groupby(partitions, lambda partition: owners.get((topic.topic, partition))):
        member = (owner.host, owner.member_id, owner.client_id) if owner else _NO_MEMBER
        lines += partition_lines(labels, (*topic[:3], *member), run)
    return lines


def _max_lag(view: GroupView) -> list[Value | None]:
    if view.event.unknown_partitions:
        return [None]
    known = (lag for topic in view.event.topics.values() for lag in lags_to_show(topic))
    return [max((lag for lag in known if lag is not None), default=None)]


_EXPORTER_GROUPS: tuple[Series[GroupView], ...] = (
    Series(adopted.EXPORTER_SUM_LAG, lambda v: [v.lag_of_all]),
    Series(adopted.EXPORTER_MAX_LAG, _max_lag),
    Series(
        adopted.EXPORTER_MAX_LAG_SECONDS,
        lambda v: seconds([v.freshness.late_ms if v.freshness else None]),
    ),
)
_EXPORTER_TOPICS: tuple[Series[JudgedTopic], ...] = (
    Series(adopted.EXPORTER_TOPIC_SUM_LAG, lambda topic: [least_total(topic.columns)]),
)
_EXPORTER_JUDGED: tuple[Series[JudgedTopic], ...] = (
    Series(
        adopted.EXPORTER_OFFSET,
        lambda topic: [offset if offset >= 0 else None for offset in topic.columns.committed],
    ),
    Series(adopted.EXPORTER_LAG, lambda topic: lags_to_show(topic.columns)),
)
_EXPORTER_MEASURED: tuple[Series[MeasuredTopic], ...] = (
    Series(adopted.EXPORTER_LAG_SECONDS, lambda topic: seconds(late_ms(topic.columns))),
)
_EXPORTER_LOGS: tuple[Series[LogEnds], ...] = (
    Series(adopted.EXPORTER_LATEST_OFFSET, lambda log: log.ends),
    Series(adopted.EXPORTER_EARLIEST_OFFSET, lambda log: log.starts),
)
_TESLA: tuple[Series[MeasuredTopic], ...] = (
    Series(adopted.TESLA_FRESHNESS, lambda topic: late_ms(topic.columns)),
)
