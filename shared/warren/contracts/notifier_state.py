"""`warren.notifier-state`: what a notifier must remember about a group, compacted."""

from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warren.contracts.event import ClusterName, Event, Milliseconds, is_empty, is_none
from warren.contracts.group_incident import GroupIncidentEvent
from warren.contracts.notification_event import DeliveryKind
from warren.contracts.status import GroupStatusName


class RouteProgress(BaseModel):
    """What a route has done about an open incident."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    channels: list[str] = Field(default_factory=list, description="Channels that it sent to")
    repeats: int = Field(default=0, ge=0, description="How often it was sent again")
    repeat_at: Milliseconds | None = Field(
        default=None, description="When the first channel may have to be sent it again"
    )


class OpenIncident(BaseModel):
    """A group that is not OK, and who was told."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    incident_id: str
    event_id: str = Field(description="The newest event")
    offset: int = Field(ge=0, description="Its offset in warren.incidents")
    goes_on_as: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="The incident that the group's events are of, when it was bad as it ceased to "
        "flap: channels know it as the one that was told; absent: the same",
    )
    routes: dict[str, RouteProgress] = Field(
        default_factory=dict,
        description="By route; by `<route>|<channel>` for channels that must hear of it again",
    )


class ChannelIdentity(BaseModel):
    """What a channel leads to, whatever its name is; holds no secret."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: str = Field(description="As `type` in its settings")
    place: str = Field(description="Host and port of a URL; else empty")
    digest: str = Field(description="Of the whole URL or the recipients, and what else tells it")


class DigestKey(BaseModel):
    """Incidents of one route that are told together: those on one cluster."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    route: str
    cluster: str


class Flapping(BaseModel):
    """Why a delivery tells of flapping."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    openings: int = Field(ge=1, description="Incidents that have begun")
    since: Milliseconds = Field(description="When the first of them did")
    quiet_ms: int = Field(ge=0, description="It is told again after so long without a change")


class Flaps(BaseModel):
    """How often incidents have begun of late. While that is flapping, the open incident is the
    one that was told, and what has happened since is here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    openings: list[Milliseconds] = Field(default_factory=list, description="Oldest first")
    changed_at: Milliseconds = Field(default=0, description="When the newest change happened")
    since: Milliseconds | None = Field(default=None, description="Flapping; null: it is not")
    status: GroupStatusName | None = Field(default=None, description="The worst that was told")
    left_out: int = Field(default=0, ge=0, description="Changes that were not told")
    end: GroupIncidentEvent | None = Field(
        default=None, description="Event that ended the told incident"
    )
    end_offset: int = 0
    latest: GroupIncidentEvent | None = Field(
        default=None, description="Newest event of an incident that is open and was not told so"
    )
    latest_offset: int = 0


class Acknowledged(BaseModel):
    """That somebody looks after an incident, as a receiver is told."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    at: Milliseconds = Field(description="When they said so")
    by: str
    why: str = ""


class PendingDelivery(BaseModel):
    """A delivery that has not come to its end."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    delivery_id: str
    event_id: str
    incident_id: str
    kind: DeliveryKind
    status: GroupStatusName
    route: str
    channel: str
    offset: int = Field(ge=0, description="Of the event, in warren.incidents")
    repeat: int = Field(default=0, ge=0)
    accepted_at: Milliseconds
    deadline_at: Milliseconds
    attempts: int = Field(default=0, ge=0, description="Attempts made")
    next_attempt_at: Milliseconds
    left_out: int = Field(
        default=0, ge=0, description="Deliveries before it that it replaced while they waited"
    )
    held: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="Why it is put off, a silence or a mute window; absent: it is not",
    )
    flapping: Flapping | None = Field(
        default=None, exclude_if=is_none, description="It tells of a group that flaps"
    )
    acknowledged: Acknowledged | None = Field(
        default=None,
        exclude_if=is_none,
        description="It tells that somebody looks after the incident",
    )
    conditions: list[str] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="Types of the conditions that are open by then, and limits of objectives that "
        "are broken beside the first",
    )
    cannot_wait: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="It tells of an ERR or a loss that begins: no interval between messages holds "
        "it back, as long as there are few",
    )


class Notified(BaseModel):
    """What a channel knows of an incident."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    incident_id: str
    channel: str = Field(description="Its name")
    identity: ChannelIdentity | None = Field(default=None, description="null: not remembered")
    route: str = Field(description="The route that told it")
    closes: bool = Field(default=True, description="Whether the end is to be told")
    status: GroupStatusName | None = Field(
        default=None, description="The newest status that it took; null: none for certain"
    )
    conditions: list[str] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="Conditions that were open by the newest delivery that it took; likewise",
    )
    uncertain: bool = Field(
        default=False, description="It may have taken a delivery whose outcome nobody knows"
    )
    receipt: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="What the channel needs to speak of the incident again, such as the place of a "
        "thread's first message",
    )
    heard_at: Milliseconds | None = Field(
        default=None,
        exclude_if=is_none,
        description="When it took or refused the newest delivery, from when on the time counts "
        "until it is reminded; absent: not remembered",
    )
    acknowledged_at: Milliseconds | None = Field(
        default=None,
        exclude_if=is_none,
        description="The acknowledgement that it was told of, by its time",
    )
    digest: DigestKey | None = Field(
        default=None, exclude_if=is_none, description="With whom it is told; absent: alone"
    )
    notified_at: Milliseconds | None = Field(
        default=None, exclude_if=is_none, description="When it took the newest delivery"
    )
    thread: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="The message that began the digest's thread; absent: none has",
    )

    replaced: PendingDelivery | None = Field(
        default=None, description="A delivery that newer news replaced while it was under way"
    )
    awaits_since: Milliseconds | None = Field(
        default=None,
        exclude_if=is_none,
        description="When what it is to be told first happened; absent: nothing awaits that",
    )
    missed: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="It was told nothing yet of what lasted for so long that it is told the end",
    )

    @property
    def opened(self) -> bool:
        """Whether it knows, or may know, of the incident, or missed it, so that it must be told
        the end.
        """
        return self.status is not None or self.uncertain or self.missed


class NotifierState(Event):
    """All that is remembered about one group; a tombstone when that is nothing.

    One record, so that it changes as a whole or not at all. Internal: only notifiers read it. It
    lies in the partition of the group's events.
    """

    topic_name: ClassVar[str] = "notifier-state"

    v: Literal[1] = 1
    cluster: ClusterName
    group: str
    offset: int = Field(
        ge=-1, description="Newest event that was taken in, -1: none; older ones are replays"
    )
    incident: OpenIncident | None = None
    deliveries: list[PendingDelivery] = Field(
        default_factory=list,
        description="At most one per incident and channel: what the channel is to know next",
    )
    notified: list[Notified] = Field(
        default_factory=list,
        description="What channels know, in the order in which they were first told",
    )
    flaps: Flaps | None = Field(
        default=None, exclude_if=is_none, description="Absent: no incident has begun of late"
    )
    events: dict[str, GroupIncidentEvent] = Field(
        default_factory=dict, description="Event id to the event, as published"
    )

    @model_validator(mode="after")
    def _events_are_there(self) -> Self:
        needed = {delivery.event_id for delivery in self.deliveries}
        if self.incident is not None:
            needed.add(self.incident.event_id)
        if missing := needed - self.events.keys():
            raise ValueError(f"events are missing: {', '.join(sorted(missing))}")
        return self
