"""Series under others' names, for rules and panels that are there already: Burrow's `/metrics`,
Kafka Lag Exporter's, whose time lags are estimated where ours are measured, and Tesla's.

Facts from linkedin/Burrow 1.9.5, core/internal/httpserver/prometheus.go, and from
seglo/kafka-lag-exporter 0.8.2, Metrics.scala and ConsumerGroupCollector.scala.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from warren.contracts import Status, TopicsEvent
from warren.metrics import adopted_families as families

from warren_api.metrics.exposition import Value, partition_lines
from warren_api.metrics.group_series import of_columns, seconds
from warren_api.metrics.series import (
    Collected,
    JudgedTopic,
    LogEnds,
    MeasuredTopic,
    Series,
    Snapshot,
    Wanted,
    group_blocks,
    log_blocks,
    partition_blocks,
    topic_blocks,
    unconsumed,
)
from warren_api.model.freshness import late_ms
from warren_api.model.group import GroupView, group_status, partition_status
from warren_api.model.partitions import burrow_lags, lags_to_show

_CODES: dict[str, int] = {name: int(status) for name, status in Status.__members__.items()}


def burrow_series(
    wanted: Wanted, snapshot: Snapshot, listed: Sequence[TopicsEvent]
) -> Iterator[Collected]:
    """`listed`: all topics of the clusters whose collectors list them."""
    yield from wanted.collect(_BURROW_GROUPS, group_blocks(snapshot.views))
    yield from wanted.collect(_BURROW_PARTITIONS, partition_blocks(snapshot.judged))
    yield from wanted.collect(
        _BURROW_LOGS, log_blocks([*snapshot.logs, *unconsumed(snapshot.logs, listed)])
    )


def _statuses(topics: Sequence[JudgedTopic]) -> list[Value | None]:
    """Only where the window is full, as in Burrow."""
    return [
        _CODES[partition_status(status, None)] if complete == 1.0 else None
        for topic in topics
        for status, complete in zip(topic.columns.status, topic.columns.complete, strict=True)
    ]


def _current_offsets(topics: Sequence[JudgedTopic]) -> list[Value | None]:
    return [
        offset if complete == 1.0 else None
        for topic in topics
        for offset, complete in zip(
            topic.columns.window_end.offset, topic.columns.complete, strict=True
        )
    ]


_BURROW_GROUPS: tuple[Series[GroupView], ...] = (
    Series(families.BURROW_TOTAL_LAG, lambda views: [v.burrow_total_lag for v in views]),
    Series(families.BURROW_STATUS, lambda views: [_CODES[group_status(v)] for v in views]),
)
_BURROW_PARTITIONS: tuple[Series[JudgedTopic], ...] = (
    Series(
        families.BURROW_PARTITION_LAG,
        lambda topics: [lag for t in topics for lag in burrow_lags(t.columns)],
    ),
    Series(families.BURROW_PARTITION_STATUS, _statuses),
    Series(families.BURROW_CURRENT_OFFSET, _current_offsets),
)
_BURROW_LOGS: tuple[Series[LogEnds], ...] = (
    Series(families.BURROW_TOPIC_OFFSET, lambda logs: [end for log in logs for end in log.ends]),
)


# member_host, consumer_id and client_id where no member is known: the exporter's own word.
_NO_MEMBER = ("unknown", "unknown", "unknown")


def lag_exporter_series(wanted: Wanted, snapshot: Snapshot) -> Iterator[Collected]:
    yield from wanted.collect(_GROUPS, group_blocks(snapshot.views))
    yield from wanted.collect(_TOPICS, topic_blocks(snapshot.judged))
    yield from wanted.collect(_JUDGED, partition_blocks(snapshot.judged, _member_lines))
    yield from wanted.collect(_MEASURED, partition_blocks(snapshot.measured, _member_lines))
    yield from wanted.collect(_LOGS, log_blocks(snapshot.logs))


def _member_lines(labels: Sequence[str], topic: JudgedTopic | MeasuredTopic) -> list[str]:
    """With the member that owns each partition."""
    partitions = topic.columns.partition
    owners = topic.membership.owners if topic.membership else {}
    lines: list[str] = []
    for owner, run in groupby(partitions, lambda partition: owners.get((topic.topic, partition))):
        member = (owner.host, owner.member_id, owner.client_id) if owner else _NO_MEMBER
        lines += partition_lines(labels, (*topic[:3], *member), run)
    return lines


def _max_lag(view: GroupView) -> Value | None:
    if view.event.unknown_partitions:
        return None
    known = (lag for topic in view.event.topics.values() for lag in lags_to_show(topic))
    return max((lag for lag in known if lag is not None), default=None)


_GROUPS: tuple[Series[GroupView], ...] = (
    Series(families.EXPORTER_SUM_LAG, lambda views: [v.lag_of_all for v in views]),
    Series(families.EXPORTER_MAX_LAG, lambda views: [_max_lag(v) for v in views]),
    Series(
        families.EXPORTER_MAX_LAG_SECONDS,
        lambda views: seconds([v.freshness.late_ms if v.freshness else None for v in views]),
    ),
)
_TOPICS: tuple[Series[JudgedTopic], ...] = (
    Series(
        families.EXPORTER_TOPIC_SUM_LAG,
        lambda topics: [topic.total_lag for topic in topics],
    ),
)
_JUDGED: tuple[Series[JudgedTopic], ...] = (
    Series(
        families.EXPORTER_OFFSET,
        lambda topics: [
            offset if offset >= 0 else None for t in topics for offset in t.columns.committed
        ],
    ),
    Series(
        families.EXPORTER_LAG,
        lambda topics: [lag for t in topics for lag in lags_to_show(t.columns)],
    ),
)
_MEASURED: tuple[Series[MeasuredTopic], ...] = (
    Series(families.EXPORTER_LAG_SECONDS, of_columns(late_ms)),
)
_LOGS: tuple[Series[LogEnds], ...] = (
    Series(families.EXPORTER_LATEST_OFFSET, lambda logs: [end for log in logs for end in log.ends]),
    Series(
        families.EXPORTER_EARLIEST_OFFSET,
        lambda logs: [start for log in logs for start in log.starts],
    ),
)
