"""Rendering of status changes: what is published on `warren.lag-status`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from warren.contracts import (
    MAX_PARTITIONS,
    BadPartition,
    Cause,
    EndReasonName,
    MaxLag,
    OffsetEvent,
    StatusChange,
    StatusChangeEvent,
)
from warren.contracts.status import Status

from warren_core.evaluation import UNKNOWN, GroupVerdict, Int64, PartitionVerdicts
from warren_core.judgement.incidents import change_id, incident_id
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.reasons import Reasons
from warren_core.judgement.state import Applied, GroupState, Latest
from warren_core.judgement.status_names import group_name, partition_name

_ENDS: dict[EndReasonName, str] = {
    "group_deleted": "the group was deleted",
    "group_expired": "the group has not committed for longer than it is kept",
    "group_forgotten": "the group was forgotten on request until it commits again",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def status_change(
    event: OffsetEvent,
    state: GroupState,
    previous: Status,
    opened_at: int,
    lag: Int64,
    partitions: PartitionVerdicts,
    group: GroupVerdict,
    why: Reasons,
    cause: Cause | None = None,
    late: Lateness | None = None,
) -> StatusChangeEvent:
    """A group went from one status to another. `opened_at` is that of the incident, open or not.

    `late`: what was measured lately, of a group that is not OK.
    """
    bad = why.worst_first
    listed = [_bad_partition(state, lag, partitions, why, row) for row in bad[:MAX_PARTITIONS]]
    return _change(
        event,
        status=group.status,
        previous=previous,
        data=StatusChange(
            cluster=event.cluster,
            group=event.group,
            status=group_name(group.status),
            previous=group_name(previous),
            reason=why.reason,
            explanation=why.explanation,
            cause=cause,
            incident_id=incident_id(event.cluster, event.group, opened_at),
            opened_at=opened_at,
            total_lag=group.total_lag,
            late_ms=None if late is None else late.late_ms,
            time_to_loss_ms=None if late is None else late.time_to_loss_ms,
            max_lag=_max_lag(state, lag, group),
            partition_counts={partition_name(status): n for status, n in group.counts.items()},
            partitions=listed,
            partitions_omitted=len(bad) - len(listed),
        ),
    )


def incident_ended(
    event: OffsetEvent, previous: Status, opened_at: int, reason: EndReasonName
) -> StatusChangeEvent:
    """A group with an open incident is no more."""
    return _change(
        event,
        status=Status.NOTFOUND,
        previous=previous,
        data=StatusChange(
            cluster=event.cluster,
            group=event.group,
            status="NOTFOUND",
            previous=group_name(previous),
            reason=reason,
            explanation=_ENDS[reason],
            incident_id=incident_id(event.cluster, event.group, opened_at),
            opened_at=opened_at,
            total_lag=0,
            max_lag=None,
            partition_counts={},
            partitions=[],
        ),
    )


def _change(
    event: OffsetEvent, *, status: Status, previous: Status, data: StatusChange
) -> StatusChangeEvent:
    return StatusChangeEvent(
        id=change_id(event.cluster, event.group, Applied.by(event), previous, status),
        source=f"/warren/clusters/{event.cluster}",
        subject=event.group,
        time=_EPOCH + timedelta(milliseconds=event.observed_at),
        data=data,
    )


def _bad_partition(
    state: GroupState, lag: Int64, verdicts: PartitionVerdicts, why: Reasons, row: int
) -> BadPartition:
    topic, partition = state.layout.name(row)
    latest = state.latest[:, row].tolist()
    return BadPartition(
        topic=topic,
        partition=partition,
        status=partition_name(int(verdicts.status[row])),
        lag=None if lag[row] == UNKNOWN else int(lag[row]),
        committed=latest[Latest.COMMITTED],
        log_end=latest[Latest.LOG_END],
        committed_at=latest[Latest.COMMITTED_AT],
        reason=why.by_row[row].reason,
        explanation=why.by_row[row].sentence,
    )


def _max_lag(state: GroupState, lag: Int64, group: GroupVerdict) -> MaxLag | None:
    if group.max_lag_row is None:
        return None
    topic, partition = state.layout.name(group.max_lag_row)
    return MaxLag(topic=topic, partition=partition, lag=int(lag[group.max_lag_row]))
