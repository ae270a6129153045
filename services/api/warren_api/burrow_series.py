"""The series of Burrow's `/metrics`: its names, labels and values.

Facts from linkedin/Burrow 1.9.5, core/internal/httpserver/prometheus.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warren.contracts import Status, TopicLag
from warren.metrics import api_families as families

from warren_api.exposition import Value, column, head, sample
from warren_api.group_view import GroupView

_CODES: dict[str, int] = {name: int(status) for name, status in Status.__members__.items()}


def burrow_series(views: Sequence[GroupView]) -> Iterator[str]:
    yield head(families.BURROW_TOTAL_LAG)
    for view in views:
        name = view.cluster, view.group
        yield sample(families.BURROW_TOTAL_LAG, name, view.event.total_lag)
    yield head(families.BURROW_STATUS)
    for view in views:
        yield sample(families.BURROW_STATUS, (view.cluster, view.group), _CODES[view.event.status])
    for family, values in (
        (families.BURROW_PARTITION_LAG, _lags),
        (families.BURROW_PARTITION_STATUS, _statuses),
        (families.BURROW_CURRENT_OFFSET, _current_offsets),
    ):
        yield head(family)
        for view in views:
            for topic, columns in view.event.topics.items():
                labels = view.cluster, view.group, topic
                yield column(family, labels, columns.partition, values(columns))
    yield from _topic_offsets(views)


def _lags(columns: TopicLag) -> list[Value | None]:
    return [lag or 0 for lag in columns.lag]


def _statuses(columns: TopicLag) -> list[Value | None]:
    """Only where the window is full, as in Burrow."""
    return [
        _CODES[status] if complete == 1.0 else None
        for status, complete in zip(columns.status, columns.complete, strict=True)
    ]


def _current_offsets(columns: TopicLag) -> list[Value | None]:
    return [
        offset if complete == 1.0 else None
        for offset, complete in zip(columns.window_end.offset, columns.complete, strict=True)
    ]


def _topic_offsets(views: Sequence[GroupView]) -> Iterator[str]:
    """Of groups that share a topic the last judged one has seen the newest log end."""
    ends: dict[tuple[str, str], dict[int, int]] = {}
    for view in sorted(views, key=lambda view: view.event.evaluated_at):
        for topic, columns in view.event.topics.items():
            pairs = zip(columns.partition, columns.log_end, strict=True)
            of_topic = ends.setdefault((view.cluster, topic), {})
            of_topic.update(pair for pair in pairs if pair[1] >= 0)
    yield head(families.BURROW_TOPIC_OFFSET)
    for labels, of_topic in ends.items():
        yield column(families.BURROW_TOPIC_OFFSET, labels, of_topic.keys(), of_topic.values())
