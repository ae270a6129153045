"""A pending delivery, where it belongs, and what an attempt makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import count

from warren.contracts import DeliveryOutcome, PendingDelivery

from warren_notifier.routing.change import Subject

_numbers = count()
_number = partial(next, _numbers)

Key = tuple[str, str]
"""Incident and channel."""


@dataclass(slots=True)
class Delivery:
    """A delivery from its decision to its end. Nothing here changes it: what it comes to is a new
    value of the same `number`.
    """

    partition: int
    subject: Subject
    pending: PendingDelivery
    """What it has come to, as it is stored."""
    event: str
    """The event's text, as published; empty where it was replaced and only its end is noted."""
    receipt: str | None = None
    """What the channel said when it took an earlier delivery of the incident."""
    at_most: int | None = None
    """So many news in the message that tells it, for it was in one that was refused; None: any."""
    number: int = field(default_factory=_number, compare=False, repr=False)

    @property
    def key(self) -> Key:
        return self.pending.incident_id, self.pending.channel

    def is_same(self, other: Delivery | None) -> bool:
        """Whether the other one is this delivery, whatever it has come to since."""
        return other is not None and self.number == other.number

    def updated(self, **fields: object) -> Delivery:
        """The delivery with other fields of `pending`."""
        return Delivery(
            self.partition,
            self.subject,
            self.pending.model_copy(update=fields),
            self.event,
            self.receipt,
            self.at_most,
            self.number,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What an attempt led to. `pending` counts it. `failed` and `silenced` are not the end."""

    pending: PendingDelivery
    outcome: DeliveryOutcome
    detail: str
    receipt: str | None = None

    @property
    def final(self) -> bool:
        return self.outcome not in ("failed", "silenced")


@dataclass(frozen=True, slots=True)
class Ended:
    """A delivery that came to its end without an attempt."""

    delivery: Delivery
    outcome: DeliveryOutcome
    why: str

    @property
    def step(self) -> Step:
        return Step(self.delivery.pending, self.outcome, self.why)
