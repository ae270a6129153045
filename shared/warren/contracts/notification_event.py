"""`warren.notifications`: the audit of every delivery attempt and of every delivery's end."""

from typing import ClassVar, Literal

from pydantic import Field

from warren.contracts.event import Event, EventOfGroup, Moment, is_empty, is_none
from warren.contracts.silence import Person
from warren.contracts.status import GroupStatusName

DeliveryKind = Literal["opened", "changed", "repeated", "resolved", "acknowledged"]
DeliveryOutcome = Literal[
    "delivered", "failed", "refused", "given_up", "suppressed", "superseded", "silenced"
]


class NotificationEvent(EventOfGroup):
    """One attempt, or what became of a delivery without one. `failed` and `silenced` are no end."""

    topic_name: ClassVar[str] = "notifications"

    delivery_id: str = Field(description="Same cause, route and channel: same id (UUID 5)")
    event_id: str = Field(description="The CloudEvent that is delivered")
    incident_id: str
    kind: DeliveryKind
    status: GroupStatusName
    route: str
    channel: str
    attempt: int = Field(ge=0, description="From 1; 0 for an end without any attempt")
    at: Moment = Field(description="When the attempt, or the delivery, ended")
    outcome: DeliveryOutcome = Field(
        description="delivered; failed: tried again at next_attempt_at; refused for good by the "
        "receiver or the egress guard; given_up at the deadline; suppressed: nobody needs it; "
        "superseded: newer news replaced it; silenced: put off until a silence or a mute window is "
        "over"
    )
    detail: str = Field(description="What the receiver answered, or why")
    next_attempt_at: Moment | None = None
    digest: str | None = Field(
        default=None, exclude_if=is_none, description="Id of the message that told it with others"
    )
    duration_ms: int | None = Field(default=None, ge=0, description="Of the attempt")
    conditions: list[str] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="Incident ids of the conditions of a group's incident that it tells of, those "
        "that are over included; absent where that is incident_id alone",
    )


# `warren.notification-tests`: somebody wants to see that a route reaches its channels.


TEST_CLUSTER = "warren-notify-test"
"""The cluster that tests of notifications are about; no cluster that is watched is called so."""


class NotificationTest(Event):
    """A notifier tells the route's channels of an incident that there is not, and of its end."""

    topic_name: ClassVar[str] = "notification-tests"

    v: Literal[1] = 1
    id: str = Field(min_length=1, max_length=100, description="The record's key")
    route: str = Field(min_length=1, max_length=300)
    by: Person = Field(description="Who wants to know")
    at: Moment

    @property
    def incident_id(self) -> str:
        """Of what is told, on `warren.notifications` too."""
        return f"test-{self.id}"
