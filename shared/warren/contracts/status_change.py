"""`warren.lag-status`: status-change events, what users subscribe to (CloudEvents 1.0)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema

from warren.contracts.cause import Cause
from warren.contracts.event import ClusterName, Event, Milliseconds, Offset, Partition, is_none
from warren.contracts.reason import EXPLANATION, REASON
from warren.contracts.status import GroupStatusName, PartitionStatusName

MAX_PARTITIONS = 100

Time = Annotated[
    datetime,
    PlainSerializer(
        lambda t: t.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        return_type=str,
        when_used="json",
    ),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]


class MaxLag(BaseModel):
    """The partition with the largest lag."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    topic: str
    partition: Partition
    lag: int


class BadPartition(BaseModel):
    """A partition that is not OK."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    topic: str
    partition: Partition
    status: PartitionStatusName
    lag: int | None
    committed: Offset
    log_end: Offset
    committed_at: Milliseconds
    reason: str | None = Field(default=None, description=REASON)
    explanation: str | None = Field(default=None, description=EXPLANATION)


class StatusChange(BaseModel):
    """What changed and how bad it is. `incident_id` stays from the opening to the closing event."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    cluster: ClusterName
    group: str
    status: GroupStatusName
    previous: GroupStatusName
    reason: str | None = Field(
        default=None,
        description=f"Of the worst partition. {REASON}. group_deleted, group_expired "
        "or group_forgotten when an incident ended without the group being OK",
    )
    explanation: str | None = Field(
        default=None, description="The reason in one sentence, with figures; null when OK"
    )
    cause: Cause | None = Field(
        default=None,
        exclude_if=is_none,
        description="Whose trouble it is; absent when OK, and from evaluators that do not know it",
    )
    incident_id: str
    opened_at: Milliseconds
    total_lag: int
    max_lag: MaxLag | None
    partition_counts: dict[PartitionStatusName, int]
    partitions: list[BadPartition] = Field(
        max_length=MAX_PARTITIONS, description="Only bad ones, worst first"
    )
    partitions_omitted: int = Field(default=0, ge=0, description="Bad ones beyond the list's limit")


class StatusChangeEvent(Event):
    """CloudEvents 1.0, structured JSON. Same cause, same `id`: a receiver can drop duplicates."""

    topic_name: ClassVar[str] = "lag-status"

    specversion: Literal["1.0"] = "1.0"
    id: str
    source: str = Field(description="/warren/clusters/<cluster>")
    type: Literal["warren.group.status.changed"] = "warren.group.status.changed"
    subject: str = Field(description="The consumer group")
    time: Time
    datacontenttype: Literal["application/json"] = "application/json"
    data: StatusChange
