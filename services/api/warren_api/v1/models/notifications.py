"""Who was told what and when, and what waits to be told."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import DeliveryKind, DeliveryOutcome, GroupStatusName

from warren_api.model.notifications import Attempt, Waiting


class NotificationView(BaseModel):
    """An attempt to tell somebody, or what became of a delivery without one."""

    cluster: str
    group: str
    incident_id: str
    event_id: str = Field(description="The status change that it tells of")
    delivery_id: str = Field(description="The same for all attempts of one delivery")
    kind: DeliveryKind
    status: GroupStatusName
    route: str
    channel: str
    at: int
    attempt: int = Field(description="From 1; 0 without an attempt")
    outcome: DeliveryOutcome = Field(
        description="delivered; failed: tried again at next_attempt_at; refused for good; given_up "
        "at the deadline; suppressed: nobody needs it; superseded: newer news replaced it; "
        "silenced: put off"
    )
    detail: str = Field(description="What the receiver answered, or why")
    next_attempt_at: int | None
    duration_ms: int | None = Field(description="Of the attempt; null without one")

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        return cls(**{name: getattr(attempt.event, name) for name in cls.model_fields})


class PendingView(BaseModel):
    """A delivery that has not come to its end."""

    cluster: str
    group: str
    incident_id: str
    event_id: str
    delivery_id: str
    kind: DeliveryKind
    status: GroupStatusName
    route: str
    channel: str
    since: int = Field(description="When it was decided, or a silence let it go")
    attempts: int = Field(description="Attempts made")
    next_attempt_at: int
    held: str | None = Field(description="Why it is put off, a silence or a mute window; or null")

    @classmethod
    def of(cls, waiting: Waiting) -> Self:
        pending = waiting.pending
        same = {name: getattr(pending, name) for name in cls.model_fields if hasattr(pending, name)}
        return cls(**same, cluster=waiting.cluster, group=waiting.group, since=pending.accepted_at)


class RouteTest(BaseModel):
    """A test of a route that has been asked for."""

    id: str
    route: str
    incident_id: str = Field(
        description="What comes of it is in notifications of this incident: on each channel an "
        "opening and its end"
    )


class Notifications(BaseModel):
    """Attempts, the newest first, and what waits, the oldest first."""

    notifications: list[NotificationView]
    next: str | None = Field(description="Cursor of the next page; null: this is the last one")
    total: int = Field(description="Attempts that match, on all pages")
    pending: list[PendingView] = Field(description="At most 1,000, on each page the same")
    pending_total: int
