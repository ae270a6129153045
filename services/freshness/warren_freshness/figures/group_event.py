"""A group's event from its partitions' rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter

from warren.contracts import (
    FreshnessEvent,
    OpenTransaction,
    TimeToLossReason,
    TopicFreshness,
    WorstFreshness,
)
from warren_core.evaluation.commit_convention import CommitEvidence, Commits

from warren_freshness.figures.partition_figures import Row
from warren_freshness.positions.group_positions import GroupSnapshot


def group_event(
    group: GroupSnapshot,
    rows: Mapping[str, Sequence[Row]],
    measured_at: int,
    commits: Commits | None = None,
    open_transactions: Sequence[OpenTransaction] = (),
) -> FreshnessEvent:
    """`rows` and `commits` by topic; `measured_at` in Unix ms."""
    every = list(chain.from_iterable(rows.values()))
    losses = [row.time_to_loss_ms for row in every if row.time_to_loss_ms is not None]
    known = [row.freshness_ms for row in every if row.freshness_ms is not None]
    worst = _worst(rows)
    return FreshnessEvent(
        cluster=group.cluster,
        group=group.group,
        measured_at=measured_at,
        observed_at=group.observed_at,
        freshness_ms=max(known, default=None),
        lost_records=sum(row.lost_records for row in every),
        time_to_loss_ms=min(losses, default=None),
        time_to_loss_reason=_loss_reason(every),
        at_least_ms=worst.freshness_ms if worst and _has_unknown(every) else None,
        produce_rate=_sum(row.produce_rate for row in every),
        consume_rate=_sum(row.consume_rate for row in every),
        time_to_catch_up_ms=_catch_up(every),
        retention_left=min(
            (left for row in every if (left := row.retention_left) is not None), default=None
        ),
        worst=worst,
        open_transactions=list(open_transactions),
        topics={
            topic: _columns(listed, (commits or {}).get(topic))
            for topic, listed in rows.items()
            if listed
        },
    )


def _worst(rows: Mapping[str, Sequence[Row]]) -> WorstFreshness | None:
    """The first of the latest partitions: by its value or, without one, by what it is at least."""
    late = [
        (ms, topic, row)
        for topic, listed in rows.items()
        for row in listed
        if (ms := _late(row)) is not None
    ]
    if not late:
        return None
    ms, topic, row = max(late, key=itemgetter(0))
    return WorstFreshness(
        topic=topic,
        partition=row.partition,
        freshness_ms=ms,
        at_least=row.freshness_ms is None,
    )


def _sum(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return round(sum(known), 3) if known else None


def _catch_up(rows: Sequence[Row]) -> int | None:
    """Of the slowest partition; None where one is not known."""
    left = [row.time_to_catch_up_ms for row in rows if not _is_at_ease(row)]
    known = [milliseconds for milliseconds in left if milliseconds is not None]
    return max(known, default=None) if len(known) == len(left) else None


def _loss_reason(rows: Sequence[Row]) -> TimeToLossReason | None:
    """Why that of some partition is not known; else that of the smallest."""
    told = [row for row in rows if row.time_to_loss_reason is not None]
    # None, that is unknown, comes before any number.
    first = min(
        told, key=lambda row: -1 if (ms := row.time_to_loss_ms) is None else ms, default=None
    )
    return first.time_to_loss_reason if first else None


def _late(row: Row) -> int | None:
    """How late it is or, without a value, at least is."""
    return row.bound_ms if row.freshness_ms is None else row.freshness_ms


def _has_unknown(rows: Iterable[Row]) -> bool:
    """Some partition has something to consume but no value."""
    return any(row.freshness_ms is None and not _is_at_ease(row) for row in rows)


def _is_at_ease(row: Row) -> bool:
    """Nothing was committed there, nor written since that is known."""
    return row.reason == "no_commit" and row.bound_ms is None


def _columns(rows: Sequence[Row], commits: CommitEvidence | None) -> TopicFreshness:
    columns = list(zip(*rows, strict=True))
    return TopicFreshness.model_validate(
        {
            **dict(zip(Row._fields, map(list, columns), strict=True)),
            "commit_convention": commits.convention if commits else None,
        }
    )
