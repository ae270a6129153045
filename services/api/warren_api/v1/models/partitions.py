"""Partitions of a group."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import FreshnessReason, PartitionStatusName, TimeToLossReason

from warren_api.model.group import PartitionRow


class WorstPartition(BaseModel):
    """The partition to look at first: the most severe status, then the largest lag."""

    topic: str
    partition: int
    status: PartitionStatusName
    lag: int | None = Field(description="Records; null when unknown")

    @classmethod
    def of(cls, row: PartitionRow) -> Self:
        return cls(topic=row.topic, partition=row.partition, status=row.status, lag=row.lag)


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
    status_reason: str | None = Field(description="Why the status is not OK, for machines")
    explanation: str | None = Field(description="Why the status is not OK, in one sentence")
    owner: str | None = Field(description="member_id of the member it is assigned to")
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
    time_to_loss_reason: TimeToLossReason | None = Field(
        description="Which limit time_to_loss_ms is about, or why it is not known"
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
            status_reason=row.reason,
            explanation=row.explanation,
            owner=row.owner.member_id if row.owner else None,
            lag=row.lag,
            committed=known(row.committed),
            committed_at=known(row.committed_at),
            log_start=known(row.log_start),
            log_end=known(row.log_end),
            complete=row.complete,
            window_start=WindowCommit(**row.start._asdict()) if row.start else None,
            window_end=WindowCommit(**row.end._asdict()) if row.end else None,
            freshness_ms=measured.freshness_ms if measured else None,
            reason=measured.reason if measured else None,
            bound_ms=measured.bound_ms if measured else None,
            lost_records=row.lost_records,
            time_to_loss_ms=measured.time_to_loss_ms if measured else None,
            time_to_loss_reason=measured.time_to_loss_reason if measured else None,
            oldest_at=measured.oldest_at if measured else None,
            commit_lag_ms=measured.commit_lag_ms if measured else None,
            append_lag_ms=measured.append_lag_ms if measured else None,
        )


def known(number: int) -> int | None:
    """Kafka's -1 means unknown."""
    return None if number < 0 else number
