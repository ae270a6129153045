"""A group's event from its partitions' rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from warren.contracts import FreshnessEvent, TopicFreshness, WorstFreshness

from warren_freshness.figures.partition_figures import Row
from warren_freshness.positions.group_positions import GroupSnapshot


def group_event(
    group: GroupSnapshot, rows: Mapping[str, Sequence[Row]], measured_at: int
) -> FreshnessEvent:
    """`rows` by topic; `measured_at` in Unix ms."""
    everything = [(topic, row) for topic, listed in rows.items() for row in listed]
    losses = [row.time_to_loss_ms for _, row in everything if row.time_to_loss_ms is not None]
    worst = _worst(everything)
    return FreshnessEvent(
        cluster=group.cluster,
        group=group.group,
        measured_at=measured_at,
        observed_at=group.observed_at,
        freshness_ms=None if worst is None else worst.freshness_ms,
        lost_records=sum(row.lost_records for _, row in everything),
        time_to_loss_ms=min(losses, default=None),
        worst=worst,
        topics={topic: _columns(listed) for topic, listed in rows.items()},
    )


def _worst(everything: Iterable[tuple[str, Row]]) -> WorstFreshness | None:
    """The first of the latest partitions."""
    known = [(topic, row) for topic, row in everything if row.freshness_ms is not None]
    if not known:
        return None
    topic, row = max(known, key=lambda entry: entry[1].freshness_ms or 0)
    return WorstFreshness(topic=topic, partition=row.partition, freshness_ms=row.freshness_ms or 0)


def _columns(rows: Sequence[Row]) -> TopicFreshness:
    columns = list(zip(*rows, strict=True))
    return TopicFreshness.model_validate(dict(zip(Row._fields, map(list, columns), strict=True)))
