"""A pending delivery, and where it belongs."""

from __future__ import annotations

from dataclasses import dataclass

from warren.contracts import PendingDelivery

from warren_notifier.routing.change import Subject


@dataclass(slots=True)
class Delivery:
    """A delivery from its decision to its end. `pending`: what it has come to, as it is stored."""

    partition: int
    subject: Subject
    pending: PendingDelivery
    event: str
    """The event's text, as published."""
    receipt: str | None = None
    """What the channel said when it took an earlier delivery of the incident."""
