"""The series of Burrow's `/metrics`: its names, labels and values.

Facts from linkedin/Burrow 1.9.5, core/internal/httpserver/prometheus.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warren.contracts import Status, TopicsEvent
from warren.metrics import adopted_families as families

from warren_api.metrics.exposition import Value
from warren_api.metrics.series import (
    Collected,
    JudgedTopic,
    Series,
    Snapshot,
    Wanted,
    group_blocks,
    log_blocks,
    partition_blocks,
)
from warren_api.model.burrow_status import group_status, partition_status
from warren_api.model.group import GroupView
from warren_api.model.log_ends import LogEnds, unconsumed

_CODES: dict[str, int] = {name: int(status) for name, status in Status.__members__.items()}


def burrow_series(
    wanted: Wanted, snapshot: Snapshot, listed: Sequence[TopicsEvent]
) -> Iterator[Collected]:
    """`listed`: all topics of the clusters whose collectors list them."""
    yield from wanted.collect(_GROUPS, group_blocks(snapshot.views))
    yield from wanted.collect(_PARTITIONS, partition_blocks(snapshot.judged))
    yield from wanted.collect(
        _LOGS, log_blocks([*snapshot.logs, *unconsumed(snapshot.logs, listed)])
    )


def _lags(topics: Sequence[JudgedTopic]) -> list[Value | None]:
    return [lag or 0 for topic in topics for lag in topic.columns.lag]


def _statuses(topics: Sequence[JudgedTopic]) -> list[Value | None]:
    """Only where the window is full, as in Burrow."""
    return [
        _CODES[partition_status(status)] if complete == 1.0 else None
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


_GROUPS: tuple[Series[GroupView], ...] = (
    Series(families.BURROW_TOTAL_LAG, lambda views: [v.event.total_lag for v in views]),
    Series(families.BURROW_STATUS, lambda views: [_CODES[group_status(v)] for v in views]),
)
_PARTITIONS: tuple[Series[JudgedTopic], ...] = (
    Series(families.BURROW_PARTITION_LAG, _lags),
    Series(families.BURROW_PARTITION_STATUS, _statuses),
    Series(families.BURROW_CURRENT_OFFSET, _current_offsets),
)
_LOGS: tuple[Series[LogEnds], ...] = (
    Series(families.BURROW_TOPIC_OFFSET, lambda logs: [end for log in logs for end in log.ends]),
)
