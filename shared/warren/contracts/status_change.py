"""`warren.lag-status`: status-change events, what users subscribe to (CloudEvents 1.0)."""

import operator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from warren.contracts.cause import Cause
from warren.contracts.event import (
    ClusterName,
    Count,
    GroupName,
    Headers,
    KeyedEvent,
    Milliseconds,
    Moment,
    Offset,
    Partition,
    is_none,
)
from warren.contracts.reason import EXPLANATION, REASON
from warren.contracts.status import GroupStatusName, PartitionStatusName

CONTENT_TYPE = "application/cloudevents+json"
"""Media type of a whole event in JSON: structured mode, by Kafka as by HTTP."""
MAX_PARTITIONS = 100
MAX_OBJECTIVES = 20

EventTypeName = Literal[
    "warren.group.status.changed",
    "warren.group.freshness.changed",
    "warren.group.retention.changed",
]
EVENT_TYPES: tuple[EventTypeName, ...] = get_args(EventTypeName)
STATUS_CHANGED, FRESHNESS_CHANGED, RETENTION_CHANGED = EVENT_TYPES
LimitName = Literal[
    "max_freshness",
    "max_lag",
    "min_produce_rate",
    "min_time_to_loss",
    "lost_records",
    "burn_rate",
]
LIMITS: tuple[LimitName, ...] = get_args(LimitName)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _moment(time: datetime) -> datetime:
    """In UTC: what has no date there, or none that Unix milliseconds have, ends no reader."""
    if time.tzinfo is None:
        raise ValueError("no time zone")
    with suppress(OverflowError):
        if (moment := time.astimezone(UTC)) >= _EPOCH:
            return moment
    raise ValueError("no date from 1970 to 9999")


Time = Annotated[
    datetime,
    AfterValidator(_moment),
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


class Breach(BaseModel):
    """A limit of an objective that a group does not keep."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    objective: str = Field(description="Its name; `retention` is the one that is always there")
    limit: str = Field(description=f"{', '.join(LIMITS)}; more may come")
    status: GroupStatusName = Field(description="How bad that is: WARN or ERR")
    since: Milliseconds
    value: float | None = Field(
        allow_inf_nan=False,
        description="What was measured, in milliseconds, records, records a second, or times of "
        "what a target allows; null where it was not, this time",
    )
    wanted: float = Field(allow_inf_nan=False, description="What the limit asks for, likewise")
    sentence: str = Field(description="What is wrong, with figures")
    said_at: Milliseconds | None = Field(
        default=None, exclude_if=is_none, description="When; absent: with the change it stands in"
    )
    topic: str | None = Field(default=None, description="Of the worst partition")
    partition: Partition | None = None
    undated: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description="That partition's records have no timestamp that can be true",
    )
    owner: str | None = Field(default=None, exclude_if=is_none)
    runbook: str | None = Field(default=None, exclude_if=is_none)


class StatusChange(BaseModel):
    """What changed and how bad it is. `incident_id` stays from the opening to the closing event."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    cluster: ClusterName
    group: GroupName
    status: GroupStatusName
    previous: GroupStatusName
    reason: str | None = Field(
        default=None,
        description=f"Of the worst partition. {REASON}. group_deleted, group_expired, "
        "group_forgotten, offsets_expired, offsets_deleted or records_skipped when an incident "
        "ended without the group being OK",
    )
    explanation: str | None = Field(
        default=None, description="The reason in one sentence, with figures; null when OK"
    )
    cause: Cause | None = Field(
        default=None,
        exclude_if=is_none,
        description="Whose trouble it is; absent when OK, and from evaluators that do not know it",
    )
    owner: str | None = Field(
        default=None, exclude_if=is_none, description="Whose the group is, as [[groups]] says"
    )
    runbook: str | None = Field(
        default=None, exclude_if=is_none, description="URL of what to do, likewise"
    )
    labels: dict[str, str] | None = Field(
        default=None, exclude_if=is_none, description="What else is told of the group, likewise"
    )
    incident_id: str
    opened_at: Moment
    total_lag: Count
    late_ms: int | None = Field(
        default=None,
        exclude_if=is_none,
        description="How late the group is, at least; absent where that was not measured lately",
    )
    time_to_loss_ms: int | None = Field(
        default=None,
        exclude_if=is_none,
        description="Until retention deletes what it has not consumed; likewise",
    )
    max_lag: MaxLag | None
    partition_counts: dict[PartitionStatusName, int]
    partitions: list[BadPartition] = Field(
        max_length=MAX_PARTITIONS, description="Only bad ones, worst first"
    )
    partitions_omitted: int = Field(default=0, ge=0, description="Bad ones beyond the list's limit")
    objectives: list[Breach] | None = Field(
        default=None,
        exclude_if=is_none,
        max_length=MAX_OBJECTIVES,
        description="Limits that are not kept, worst first; absent from changes of the status that "
        "follows from commits. Changes of freshness and retention list and count no partitions",
    )


class StatusChangeEvent(KeyedEvent):
    """CloudEvents 1.0, structured JSON. Same cause, same `id`: a receiver can drop duplicates.

    Each type has incidents of its own: a group may be OK by its commits, and late all the same.
    """

    topic_name: ClassVar[str] = "lag-status"
    content_type: ClassVar[str] = CONTENT_TYPE
    headers: ClassVar[Headers] = (("content-type", CONTENT_TYPE.encode()),)

    specversion: Literal["1.0"] = "1.0"
    id: str
    source: str = Field(description="/warren/clusters/<cluster>")
    type: EventTypeName = Field(
        default=STATUS_CHANGED,
        description="What changed: the status that follows from commits, how late the group is "
        "(objectives of freshness, lag and produce rate), or what retention leaves it",
    )
    subject: str = Field(description="The consumer group")
    time: Time
    datacontenttype: Literal["application/json"] = "application/json"
    data: StatusChange

    @property
    def about(self) -> tuple[str, str]:
        return self.data.cluster, self.data.group
