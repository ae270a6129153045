"""A group's incident as one story: what notifiers remember of it, and tell people.

No topic has it: notifiers make it of the status changes of one group, in the order of their log.
"""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from warren.contracts.event import ClusterName, Event, Milliseconds
from warren.contracts.notifier_state import Acknowledged
from warren.contracts.status import GroupStatusName
from warren.contracts.status_change import (
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    EventTypeName,
    StatusChangeEvent,
    Time,
)

CONDITIONS: tuple[EventTypeName, ...] = (STATUS_CHANGED, RETENTION_CHANGED, FRESHNESS_CHANGED)
"""The root comes first, then what follows from it, the gravest first."""
GROUP_INCIDENT: Literal["warren.group.incident.changed"] = "warren.group.incident.changed"


class GroupIncident(BaseModel):
    """It opens with its first condition, whose incident gives it its id, and ends with the last.

    `status` is the worst. `conditions`: newest events of those that are open, the root first;
    `ended`: of those that this change has ended.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    cluster: ClusterName
    group: str
    status: GroupStatusName
    previous: GroupStatusName
    incident_id: str
    opened_at: Milliseconds
    conditions: list[StatusChangeEvent]
    ended: list[StatusChangeEvent] = []
    seen: list[str] = []
    """Types of conditions that have been open in it: one that opens again may be flapping."""
    was: list[StatusChangeEvent] = []
    """How conditions of it that are over were when they were last open, the root first; without
    their partitions.
    """
    lost: int = 0
    """Records that conditions which are over have said to be lost: they stay so."""
    acknowledged: Acknowledged | None = None
    """Who looks after it, when people are told of it."""
    silenced_until: Milliseconds | None = None
    """Until when people silence the group, likewise."""
    kept: list[StatusChangeEvent] = []
    """Likewise, as of when they are well again: conditions, or their limits, that are so by now
    while their incidents are not over.
    """

    @property
    def told(self) -> list[StatusChangeEvent]:
        """What the change is about, the root first."""
        return [*self.conditions, *self.ended]


class GroupIncidentEvent(Event):
    """One change of it. `id`: of the status change that led to it."""

    topic_name: ClassVar[str] = "notifier-state"

    id: str
    type: Literal["warren.group.incident.changed"] = GROUP_INCIDENT
    time: Time
    data: GroupIncident
