"""Series under others' names, for rules and panels that are there already: Burrow's `/metrics`,
Kafka Lag Exporter's, whose time lags are estimated where ours are measured, and Tesla's.

Facts from linkedin/Burrow 1.9.5, core/internal/httpserver/prometheus.go, and from
seglo/kafka-lag-exporter 0.8.2, Metrics.scala and ConsumerGroupCollector.scala.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from warren.contracts import Status, TopicsEvent
from warren.metrics import adopted_families as families

from warren_api.metrics.exposition import Value, partition_lines
from warren_api.metrics.group_series import seconds
from warren_api.metrics.series import (
    Collected,
    JudgedTopic,
    LogEnds,
    MeasuredTopic,
    Series,
    Snapshot,
    Wanted,
    group_things,
    log_things,
    partition_things,
    topic_things,
    unconsumed,
)
from warren_api.model.freshness import late_ms
from warren_api.model.group import GroupView, group_status, partition_status
from warren_api.model.partitions import burrow_lags, lags_to_show

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
    Series(families.BURROW_TOTAL_LAG, lambda v: [v.burrow_total_lag]),
    Series(families.BURROW_STATUS, lambda v: [_CODES[group_status(v)]]),
)
_BURROW_PARTITIONS: tuple[Series[JudgedTopic], ...] = (
    Series(families.BURROW_PARTITION_LAG, lambda topic: burrow_lags(topic.columns)),
    Series(
        families.BURROW_PARTITION_STATUS,
        lambda topic: _where_full(
            topic, [_CODES[partition_status(status, None)] for status in topic.columns.status]
        ),
    ),
    Series(
        families.BURROW_CURRENT_OFFSET,
        lambda topic: _where_full(topic, topic.columns.window_end.offset),
    ),
)
_BURROW_LOGS: tuple[Series[LogEnds], ...] = (
    Series(families.BURROW_TOPIC_OFFSET, lambda log: log.ends),
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
    Series(families.EXPORTER_SUM_LAG, lambda v: [v.lag_of_all]),
    Series(families.EXPORTER_MAX_LAG, _max_lag),
    Series(
        families.EXPORTER_MAX_LAG_SECONDS,
        lambda v: seconds([v.freshness.late_ms if v.freshness else None]),
    ),
)
_EXPORTER_TOPICS: tuple[Series[JudgedTopic], ...] = (
    Series(families.EXPORTER_TOPIC_SUM_LAG, lambda topic: [topic.total_lag]),
)
_EXPORTER_JUDGED: tuple[Series[JudgedTopic], ...] = (
    Series(
        families.EXPORTER_OFFSET,
        lambda topic: [offset if offset >= 0 else None for offset in topic.columns.committed],
    ),
    Series(families.EXPORTER_LAG, lambda topic: lags_to_show(topic.columns)),
)
_EXPORTER_MEASURED: tuple[Series[MeasuredTopic], ...] = (
    Series(families.EXPORTER_LAG_SECONDS, lambda topic: seconds(late_ms(topic.columns))),
)
_EXPORTER_LOGS: tuple[Series[LogEnds], ...] = (
    Series(families.EXPORTER_LATEST_OFFSET, lambda log: log.ends),
    Series(families.EXPORTER_EARLIEST_OFFSET, lambda log: log.starts),
)
_TESLA: tuple[Series[MeasuredTopic], ...] = (
    Series(families.TESLA_FRESHNESS, lambda topic: late_ms(topic.columns)),
)
