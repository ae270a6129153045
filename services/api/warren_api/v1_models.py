"""Bodies of our own API, version 1. Times are Unix milliseconds, unknown is null."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import FreshnessReason, GroupStatusName, Incident, PartitionStatusName

from warren_api.group_view import GroupView, PartitionRow


class WorstPartition(BaseModel):
    """The partition to look at first: the most severe status, then the largest lag."""

    topic: str
    partition: int
    status: PartitionStatusName
    lag: int | None = Field(description="Records; null when unknown")

    @classmethod
    def of(cls, row: PartitionRow) -> Self:
        return cls(topic=row.topic, partition=row.partition, status=row.status, lag=row.lag)


class GroupSummary(BaseModel):
    """A consumer group as last judged."""

    cluster: str
    group: str
    status: GroupStatusName
    since: int | None = Field(description="When the status began; null when no event told it")
    total_lag: int = Field(description="Sum of the known lags, records")
    complete: float = Field(description="Share of partitions with a full window, 0 to 1")
    worst: WorstPartition | None
    incident: Incident | None = Field(description="The open incident")
    evaluated_at: int
    partition_counts: dict[PartitionStatusName, int]
    partition_count: int
    freshness_ms: int | None = Field(
        description="Age of the oldest record not consumed, of the latest partition whose age is "
        "known; 0 caught up; null unknown"
    )
    freshness_at_least_ms: int | None = Field(
        description="How late the group is at least, when some partition's age is unknown; else "
        "null"
    )
    freshness_reason: FreshnessReason | None = Field(
        description="How freshness_ms came about, or why there is none"
    )
    lost_records: int = Field(description="Offsets deleted before they were consumed")
    time_to_loss_ms: int | None = Field(
        description="Until retention may delete what was not consumed, at least; null when "
        "nothing is, or it is kept for ever, or that is unknown"
    )
    freshness_measured_at: int | None = Field(description="null: freshness was never measured")
    freshness_stale: bool = Field(
        description="Measured longer ago than three times the usual interval: do not believe it"
    )

    @classmethod
    def of(cls, view: GroupView, *, stale: bool) -> Self:
        """`stale`: its freshness was measured too long ago."""
        event, measured = view.event, view.freshness
        return cls(
            cluster=view.cluster,
            group=view.group,
            status=event.status,
            since=view.since,
            total_lag=event.total_lag,
            complete=event.complete,
            worst=WorstPartition.of(view.worst) if view.worst else None,
            incident=event.incident,
            evaluated_at=event.evaluated_at,
            partition_counts=view.partition_counts,
            partition_count=view.partition_count,
            freshness_ms=measured.event.freshness_ms if measured else None,
            freshness_at_least_ms=measured.at_least_ms if measured else None,
            freshness_reason=measured.reason if measured else None,
            lost_records=view.lost_records,
            time_to_loss_ms=view.time_to_loss_ms,
            freshness_measured_at=measured.event.measured_at if measured else None,
            freshness_stale=stale,
        )


class Groups(BaseModel):
    """All groups: first those that lose data, then worst first."""

    groups: list[GroupSummary]
    doubts: list[str] = Field(description="Why this may not be how things are; empty when it is")


class WindowCommit(BaseModel):
    """Oldest or newest commit in a partition's window."""

    offset: int
    at: int = Field(description="Commit time")
    observed_at: int = Field(description="When Warren saw it")
    lag: int | None = Field(description="Lag at that time; null when it was unknown")


class PartitionDetail(BaseModel):
    """One partition of a group. Offsets that are unknown are null."""

    topic: str
    partition: int
    status: PartitionStatusName
    lag: int | None
    committed: int | None
    committed_at: int | None
    log_start: int | None
    log_end: int | None
    complete: float = Field(description="Filled share of the window, 0 to 1")
    window_start: WindowCommit | None
    window_end: WindowCommit | None
    freshness_ms: int | None = Field(
        description="Age of the oldest record not consumed; 0 caught up; null unknown"
    )
    reason: FreshnessReason | None = Field(
        description="How freshness_ms came about, or why there is none; null: never measured"
    )
    bound_ms: int | None = Field(
        description="How far freshness_ms may be off; where it is null, what it is at least"
    )
    lost_records: int = Field(description="Offsets deleted before they were consumed")
    time_to_loss_ms: int | None = Field(
        description="Until retention may delete the oldest record not consumed, at least"
    )
    oldest_at: int | None = Field(description="Append time of the oldest record not consumed")
    commit_lag_ms: int | None = Field(
        description="Commit time - append time of the last committed record; sampled"
    )
    append_lag_ms: int | None = Field(
        description="Append time of the log's newest record - that of the last committed one; "
        "sampled"
    )

    @classmethod
    def of(cls, row: PartitionRow) -> Self:
        measured = row.freshness
        return cls(
            topic=row.topic,
            partition=row.partition,
            status=row.status,
            lag=row.lag,
            committed=_known(row.committed),
            committed_at=_known(row.committed_at),
            log_start=_known(row.log_start),
            log_end=_known(row.log_end),
            complete=row.complete,
            window_start=WindowCommit(**row.start._asdict()) if row.start else None,
            window_end=WindowCommit(**row.end._asdict()) if row.end else None,
            freshness_ms=measured.freshness_ms if measured else None,
            reason=measured.reason if measured else None,
            bound_ms=measured.bound_ms if measured else None,
            lost_records=row.lost_records,
            time_to_loss_ms=measured.time_to_loss_ms if measured else None,
            oldest_at=measured.oldest_at if measured else None,
            commit_lag_ms=measured.commit_lag_ms if measured else None,
            append_lag_ms=measured.append_lag_ms if measured else None,
        )


class GroupDetail(GroupSummary):
    """A group with its partitions, by topic and number."""

    policy: str = Field(description="Rules by which it was judged")
    partitions: list[PartitionDetail]

    @classmethod
    def of(cls, view: GroupView, *, stale: bool) -> Self:
        return cls(
            **GroupSummary.of(view, stale=stale).model_dump(),
            policy=view.event.policy,
            partitions=[PartitionDetail.of(row) for row in view.partitions],
        )


def _known(number: int) -> int | None:
    """Kafka's -1 means unknown."""
    return None if number < 0 else number
