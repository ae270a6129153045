"""`warren.incidents`: the incident of a group as a whole, what people are notified of.

Evaluators fold it from the group's status changes; whoever shows, tells or archives it reads it
here and folds nothing.
"""

from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warren.contracts.event import (
    ClusterName,
    Count,
    GroupName,
    Headers,
    KeyedEvent,
    Moment,
    is_empty,
    is_none,
)
from warren.contracts.status import GroupStatusName
from warren.contracts.status_change import (
    CONTENT_TYPE,
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    EventTypeName,
    StatusChange,
    Time,
)

CONDITIONS: tuple[EventTypeName, ...] = (STATUS_CHANGED, RETENTION_CHANGED, FRESHNESS_CHANGED)
"""The root comes first, then what follows from it, the gravest first."""
GROUP_INCIDENT: Literal["warren.group.incident.changed"] = "warren.group.incident.changed"


class Condition(BaseModel):
    """One thing that is, or was, wrong with the group: what its newest status change says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: EventTypeName = Field(description="Of its status changes")
    incident_id: str = Field(description="As its status changes have it")
    earlier_ids: list[str] = Field(
        default_factory=list, exclude_if=is_empty, description="The same of when it was open before"
    )
    since: Moment = Field(description="When it began; of one that came again, the last time")
    until: Moment | None = Field(
        default=None, exclude_if=is_none, description="When it was over; absent: it lasts"
    )
    event_id: str = Field(description="Of its newest status change")
    changed_at: Moment = Field(description="When `change` was so")
    change: StatusChange = Field(
        description="The newest by which it lasts; without partitions once it is over"
    )
    end: StatusChange | None = Field(
        default=None, exclude_if=is_none, description="What says that it is over, likewise"
    )
    worst: GroupStatusName = Field(description="The worst that it has been")
    openings: int = Field(default=1, ge=1, description="How often it has begun in this incident")

    @property
    def is_open(self) -> bool:
        return self.until is None

    @property
    def ids(self) -> list[str]:
        return [self.incident_id, *self.earlier_ids]


class GroupIncident(BaseModel):
    """It opens with its first condition, whose incident gives it its id, and ends with the last."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    cluster: ClusterName
    group: GroupName
    status: GroupStatusName = Field(
        description="The worst of the conditions that last; OK, or NOTFOUND where the group is "
        "gone, once none does"
    )
    previous: GroupStatusName = Field(description="Before this change; OK when it opens")
    worst: GroupStatusName = Field(description="The worst that it has been")
    incident_id: str
    opened_at: Moment
    changed_at: Moment = Field(description="When this change happened")
    revision: int = Field(
        ge=1, description="Number of this change in the incident: their times are of several clocks"
    )
    by: EventTypeName = Field(description="Of which condition this change is")
    did: Literal["began", "changed", "ended"] = Field(description="What it did")
    loses: bool = Field(default=False, description="Whether it begins to lose records by this")
    closed_at: Moment | None = Field(
        default=None, exclude_if=is_none, description="When it ended; absent: it is open"
    )
    reason: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="Why it ended without the group being OK, as a status change has it",
    )
    max_total_lag: Count = Field(
        description="The largest lag that a change of it has told, at least"
    )
    lost_records: Count = Field(
        default=0, description="What retention has deleted unread in the course of it, at least"
    )
    lost_before: int = Field(
        default=0, description="Of these, by conditions, or losses, that are over"
    )
    losing_since: Moment | None = Field(
        default=None,
        exclude_if=is_none,
        description="Since when retention deletes unread records; absent: it does not",
    )
    conditions: list[Condition] = Field(
        max_length=len(CONDITIONS),
        description="One for each type of status change, also those that are over; the root first",
    )

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        types = {each.type for each in self.conditions}
        if not types or len(types) < len(self.conditions) or self.by not in types:
            raise ValueError("conditions: one of each type, and one of the change")
        if self.is_open != any(each.is_open for each in self.conditions):
            raise ValueError("closed_at: an incident lasts as long as a condition")
        if self.is_open != (self.status in ("WARN", "ERR")):
            raise ValueError("status: WARN or ERR while it lasts, and not after")
        return self

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def open(self) -> list[Condition]:
        """Conditions that last, the root first."""
        return [each for each in self.conditions if each.is_open]

    @property
    def over(self) -> list[Condition]:
        return [each for each in self.conditions if not each.is_open]

    @property
    def ended(self) -> list[Condition]:
        """The condition that this change has ended."""
        return [each for each in self.over if self.did == "ended" and each.type == self.by]

    @property
    def ids(self) -> list[str]:
        """Its own, and those of its conditions, by which it may be acknowledged."""
        return list(
            dict.fromkeys(
                [self.incident_id, *(id_ for each in self.conditions for id_ in each.ids)]
            )
        )


class GroupIncidentEvent(KeyedEvent):
    """One change of it (CloudEvents 1.0). Same cause, same `id`."""

    topic_name: ClassVar[str] = "incidents"
    content_type: ClassVar[str] = CONTENT_TYPE
    headers: ClassVar[Headers] = (("content-type", CONTENT_TYPE.encode()),)

    specversion: Literal["1.0"] = "1.0"
    id: str = Field(description="That of the status change which led to it")
    source: str = Field(description="/warren/clusters/<cluster>/incidents")
    type: Literal["warren.group.incident.changed"] = GROUP_INCIDENT
    subject: str = Field(description="The consumer group")
    time: Time
    datacontenttype: Literal["application/json"] = "application/json"
    data: GroupIncident

    @property
    def about(self) -> tuple[str, str]:
        return self.data.cluster, self.data.group
