"""Rendering of evaluations: what is published on `warren.lag`."""

from typing import Any, NamedTuple, Self

from warren.contracts import (
    Cause,
    LagEvent,
    OffsetEvent,
    TopicLag,
    WindowEdge,
    group_name,
    partition_name,
)

from warren_core.evaluation import (
    UNKNOWN,
    Bools,
    Column,
    GroupSummary,
    Int64,
    PartitionVerdicts,
    Windows,
)
from warren_core.evaluation.packed_windows import pack
from warren_core.judgement.columns import Latest
from warren_core.judgement.incidents import incident
from warren_core.judgement.lags import made_only
from warren_core.judgement.state import GroupState
from warren_core.judgement.verdict import NONE, Reasons

_Columns = dict[str, list[Any]]


class LagColumns(NamedTuple):
    """What is told of partitions: lists by their names in the contract, an entry for each."""

    of_topics: _Columns
    start: _Columns
    end: _Columns

    @classmethod
    def of(cls, latest: Int64, windows: Windows, lag: Int64, verdicts: PartitionVerdicts) -> Self:
        """`windows`: of commits that were made."""
        empty = windows.filled == 0
        of_topics: _Columns = {column.field: latest[column].tolist() for column in Latest}
        of_topics["status"] = [partition_name(code) for code in verdicts.status.tolist()]
        of_topics["lag"] = _known(lag)
        of_topics["complete"] = verdicts.complete.tolist()
        return cls(of_topics, _edge(windows.oldest(), empty), _edge(windows.newest(), empty))


def lag_event(
    event: OffsetEvent,
    state: GroupState,
    columns: LagColumns,
    group: GroupSummary,
    policy: str,
    why: Reasons = NONE,
    cause: Cause | None = None,
    windows: str | None = None,
    first: int = 0,
) -> LagEvent:
    """The whole group, whatever part of it the event was about. Built without validation.

    `windows`: packed, where that was done. `first`: where the group's partitions begin in the
    columns.
    """
    reason: list[str | None] = [None] * len(state.layout)
    explanation = reason.copy()
    for row, found in why.by_row.items():
        reason[row], explanation[row] = found
    topics = {}
    for topic, partitions, own in state.layout.slices():
        rows = slice(first + own.start, first + own.stop)
        topics[topic] = TopicLag.model_construct(
            None,
            **_part(columns.of_topics, rows),
            partition=list(partitions),
            window_start=WindowEdge.model_construct(None, **_part(columns.start, rows)),
            window_end=WindowEdge.model_construct(None, **_part(columns.end, rows)),
            reason=reason[own],
            explanation=explanation[own],
        )
    return LagEvent.model_construct(
        cluster=event.cluster,
        group=event.group,
        evaluated_at=event.observed_at,
        position=event.position,
        status=group_name(state.status),
        is_known=group.is_known,
        unknown_partitions=group.unknown,
        complete=group.complete,
        policy=policy,
        total_lag=group.total_lag,
        reason=why.reason,
        explanation=why.explanation,
        cause=cause,
        topics=topics,
        last_processed=state.last_processed,
        windows=pack(made_only(state.latest, state.windows)) if windows is None else windows,
        incident=incident(event.cluster, event.group, state.opened_at),
    )


def _edge(commits: Int64, empty: Bools) -> _Columns:
    offset, at, observed_at = commits[: Column.LAG].tolist()
    lag = _known(commits[Column.LAG])
    for row in empty.nonzero()[0].tolist():
        offset[row] = at[row] = observed_at[row] = lag[row] = None
    return {"offset": offset, "at": at, "observed_at": observed_at, "lag": lag}


def _part(columns: _Columns, rows: slice) -> _Columns:
    return {name: values[rows] for name, values in columns.items()}


def _known(values: Int64) -> list[int | None]:
    """The values as a list, None for those that are UNKNOWN."""
    listed: list[int | None] = values.tolist()
    for row in (values == UNKNOWN).nonzero()[0].tolist():
        listed[row] = None
    return listed
