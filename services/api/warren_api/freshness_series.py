"""How late groups are, as series: ours, and Tesla's for dashboards that are there already.

What is unknown has no sample. What was measured long ago keeps its last one: see
`warren_group_freshness_measured_timestamp_seconds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from warren.metrics import api_families as families
from warren.metrics.api_families import Family

from warren_api.exposition import Value, column, head, sample
from warren_api.group_freshness import GroupFreshness
from warren_api.group_view import GroupView

Named = tuple[tuple[str, str], GroupFreshness]


def freshness_series(views: Sequence[GroupView]) -> Iterator[str]:
    measured = [((view.cluster, view.group), view.freshness) for view in views if view.freshness]
    yield from _groups(measured)
    yield head(families.GROUP_LOST_RECORDS)
    for view in views:
        name = view.cluster, view.group
        yield sample(families.GROUP_LOST_RECORDS, name, view.lost_records)
    yield from _partitions(measured)


def _groups(measured: Sequence[Named]) -> Iterator[str]:
    for family, name in (
        (families.GROUP_FRESHNESS, "freshness_ms"),
        (families.GROUP_TIME_TO_LOSS, "time_to_loss_ms"),
        (families.GROUP_FRESHNESS_MEASURED, "measured_at"),
    ):
        yield head(family)
        for labels, freshness in measured:
            milliseconds = getattr(freshness.event, name)
            if milliseconds is not None:
                yield sample(family, labels, milliseconds / 1000)
    yield head(families.GROUP_FRESHNESS_UNKNOWN)
    for labels, freshness in measured:
        yield sample(families.GROUP_FRESHNESS_UNKNOWN, labels, freshness.unknown_partitions)


def _partitions(measured: Sequence[Named]) -> Iterator[str]:
    for family, name in (
        (families.PARTITION_FRESHNESS, "freshness_ms"),
        (families.PARTITION_TIME_TO_LOSS, "time_to_loss_ms"),
        (families.PARTITION_COMMIT_LAG, "commit_lag_ms"),
        (families.PARTITION_APPEND_LAG, "append_lag_ms"),
    ):
        yield from _partition_family(family, name, measured, _seconds)
    yield from _partition_family(families.TESLA_FRESHNESS, "freshness_ms", measured, list)


def _partition_family(
    family: Family,
    name: str,
    measured: Sequence[Named],
    unit: Callable[[Iterable[int | None]], list[Value | None]],
) -> Iterator[str]:
    yield head(family)
    for labels, freshness in measured:
        for topic, columns in freshness.event.topics.items():
            values = unit(getattr(columns, name))
            yield column(family, (*labels, topic), columns.partition, values)


def _seconds(milliseconds: Iterable[int | None]) -> list[Value | None]:
    return [None if value is None else value / 1000 for value in milliseconds]
