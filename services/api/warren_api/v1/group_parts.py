"""What a group consists of and goes through: partitions, members, objectives, notes, verdicts that
changed.
"""

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import (
    Acknowledgement,
    Cause,
    EventTypeName,
    FreshnessReason,
    GroupMember,
    GroupStatusName,
    MaxLag,
    PartitionStatusName,
    Silence,
    TimeToLossReason,
)

from warren_api.model.group import BrokenObjective
from warren_api.model.partitions import Edge, PartitionRow, ShownPartitionStatusName
from warren_api.model.status_history import RecordedChange


class FactView(BaseModel):
    """A name and a value, as pages and mails show it."""

    name: str = Field(description="What it is")
    value: str = Field(description="In words")


class WorstPartition(BaseModel):
    """The partition to look at first: the most severe status, then the largest lag."""

    topic: str
    partition: int
    status: ShownPartitionStatusName
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

    @classmethod
    def of(cls, edge: Edge | None) -> Self | None:
        if edge is None:
            return None
        return cls(offset=edge.offset, at=edge.at, observed_at=edge.observed_at, lag=edge.lag)


class PartitionDetail(BaseModel):
    """One partition of a group. Offsets that are unknown are null."""

    topic: str
    partition: int
    status: ShownPartitionStatusName
    status_reason: str | None = Field(description="Why the status is not OK, for machines")
    explanation: str | None = Field(description="Why the status is not OK, in one sentence")
    owner: str | None = Field(description="member_id of the member it is assigned to")
    lag: int | None
    lag_at_least: bool = Field(
        description="Nothing was ever committed: lag is what was written since it was first seen so"
    )
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
        fresh = row.freshness
        return cls(
            topic=row.topic,
            partition=row.partition,
            status=row.status,
            status_reason=row.reason,
            explanation=row.explanation,
            owner=row.owner.member_id if row.owner else None,
            lag=row.lag,
            lag_at_least=row.is_lag_at_least,
            committed=known(row.committed),
            committed_at=known(row.committed_at),
            log_start=known(row.log_start),
            log_end=known(row.log_end),
            complete=row.complete,
            window_start=WindowCommit.of(row.start),
            window_end=WindowCommit.of(row.end),
            freshness_ms=fresh and fresh.freshness_ms,
            reason=fresh and fresh.reason,
            bound_ms=fresh and fresh.bound_ms,
            lost_records=row.lost_records,
            time_to_loss_ms=fresh and fresh.time_to_loss_ms,
            time_to_loss_reason=fresh and fresh.time_to_loss_reason,
            oldest_at=fresh and fresh.oldest_at,
            commit_lag_ms=fresh and fresh.commit_lag_ms,
            append_lag_ms=fresh and fresh.append_lag_ms,
        )


def known(number: int) -> int | None:
    """Kafka's -1 means unknown."""
    return None if number < 0 else number


class Member(BaseModel):
    """A member and what it is assigned."""

    member_id: str
    instance_id: str | None = Field(description="group.instance.id of a static member")
    client_id: str
    host: str
    rack: str | None
    epoch: int | None = Field(description="Member epoch; null in classic groups")
    subscription: list[str] = Field(description="Topics that it subscribes to")
    subscribed_regex: str | None
    assignment: dict[str, list[int]] = Field(description="Partitions by topic")

    @classmethod
    def of(cls, member: GroupMember) -> Self:
        return cls(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            host=member.host,
            rack=member.rack,
            epoch=known(member.epoch),
            subscription=member.subscription,
            subscribed_regex=member.subscribed_regex,
            assignment=member.assignment,
        )


class BrokenObjectiveView(BaseModel):
    """A limit that a group does not keep: an incident of its own, whatever the group's status."""

    objective: str = Field(description="Its name; `retention` is the one that is always there")
    limit: str = Field(description="What of it: max_freshness, lost_records and others")
    status: GroupStatusName = Field(description="How bad that is: WARN or ERR")
    since: int
    sentence: str = Field(description="What is wrong, with the figures of now, or of `told_at`")
    owner: str | None = Field(description="Whose the groups are, as it says; null: it does not")
    told_at: int | None = Field(
        description="When `sentence` was told, where nobody knows more now; null: it is of now"
    )
    incident_id: str

    @classmethod
    def of(cls, broken: BrokenObjective, sentence: str, told_at: int | None) -> Self:
        breach = broken.breach
        return cls(
            objective=breach.objective,
            limit=breach.limit,
            status=breach.status,
            since=breach.since,
            sentence=sentence,
            owner=breach.owner,
            told_at=told_at,
            incident_id=broken.incident_id,
        )


class SilenceNote(BaseModel):
    """Why nobody is told of a group, and until when."""

    id: str
    ends_at: int
    by: str
    why: str

    @classmethod
    def of(cls, silence: Silence | None) -> Self | None:
        if silence is None:
            return None
        return cls(id=silence.id, ends_at=silence.ends_at, by=silence.by, why=silence.why)


class AcknowledgementNote(BaseModel):
    """Who looks after an incident."""

    by: str
    why: str = Field(description="What they say about it; may be empty")
    at: int

    @classmethod
    def of(cls, said: Acknowledgement | None) -> Self | None:
        return None if said is None else cls(by=said.by, why=said.why, at=said.at)


ON_TYPE = "What it is about: the status that follows from commits, or objectives"


class RecordedVerdict(BaseModel):
    """One status change of a group."""

    id: str = Field(description="Of the event: the same wherever it is shown")
    type: EventTypeName = Field(description=ON_TYPE)
    at: int = Field(description="When the group was judged so")
    status: GroupStatusName
    previous: GroupStatusName
    reason: str | None = Field(
        description="Why the status is not OK, for machines; group_deleted or group_expired where "
        "an incident ended without the group being OK"
    )
    explanation: str | None = Field(description="Why the status is not OK, in one sentence")
    cause: Cause | None = Field(description="Whose trouble it was when it changed; null unknown")
    incident_id: str
    total_lag: int
    max_lag: MaxLag | None
    partition_counts: dict[PartitionStatusName, int]

    @classmethod
    def of(cls, recorded: RecordedChange) -> Self:
        change = recorded.change
        return cls(
            id=recorded.id,
            type=recorded.type,
            at=recorded.at,
            status=change.status,
            previous=change.previous,
            reason=change.reason,
            explanation=change.explanation,
            cause=change.cause,
            incident_id=change.incident_id,
            total_lag=change.total_lag,
            max_lag=change.max_lag,
            partition_counts=change.partition_counts,
        )
