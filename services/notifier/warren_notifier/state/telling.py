"""What one channel knows of one incident, and what it is to know next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from warren.contracts import Acknowledged, DeliveryOutcome, PendingDelivery, Told

from warren_notifier.routing.change import Subject
from warren_notifier.state.delivery import Delivery

NOT_OPENED = "its opening did not arrive, so nobody awaits the end"
FLAPS = "the group flaps, and newer news replace it"
KNOWN = "the channel knows it already"
REPLACED = "newer news replace it"
NOT_LOOKED_AFTER = "nobody looks after the incident any more"
LOOKED_AFTER = "somebody looks after the incident, and need not be reminded"


@dataclass(frozen=True, slots=True)
class Ended:
    """A delivery that came to its end without an attempt."""

    delivery: Delivery
    outcome: DeliveryOutcome
    why: str


@dataclass(slots=True, eq=False)
class Telling:
    """There is work as long as there is a `delivery`. A newer one replaces it, unsent or not."""

    partition: int
    subject: Subject
    told: Told
    delivery: Delivery | None = None
    in_flight: Delivery | None = None
    """The delivery of an attempt that is under way; it may have been replaced since."""
    durable: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when `delivery` is written down: nothing is sent before."""
    at_once: bool = False
    """Whether a free slot awaits `delivery`: what is written of it then says that it may arrive."""

    def replace(self, pending: PendingDelivery | None, event: str) -> list[Ended]:
        """Makes `pending` what the channel is to know next; what ends by that."""
        ended = []
        old, self.delivery = self.delivery, None
        self.durable.set()  # whoever waits for it sees that there is nothing any more
        left_out = 0
        if old is not None and old is not self.in_flight:
            is_change = old.pending.kind != "acknowledged"
            left_out = old.pending.left_out + is_change
            ended.append(Ended(old, "superseded", REPLACED))
        if pending is None:
            return ended
        pending = pending.model_copy(update={"left_out": pending.left_out + left_out})
        new = Delivery(self.partition, self.subject, pending, event)
        if pending.kind == "resolved" and not self.told.opened:
            return [*ended, Ended(new, "suppressed", NOT_OPENED)]
        if old is not None:  # a receiver that asked for a pause gets it, and news wait once only
            new.wait_as(old)
        self.delivery = new
        self.durable.clear()
        return ended

    def withdraw(self, why: str) -> list[Ended]:
        """What ends because nobody wants it any more; nothing where there is nothing."""
        old, self.delivery = self.delivery, None
        self.durable.set()
        return [] if old is None else [Ended(old, "suppressed", why)]

    def needless(self) -> Ended | None:
        """The delivery, if what has happened since it was decided makes it needless."""
        delivery = self.delivery
        if delivery is None:
            return None
        if delivery.pending.kind == "resolved" and not self.told.opened:
            return Ended(delivery, "suppressed", NOT_OPENED)
        news = delivery.pending.kind in ("opened", "changed")
        if news and self.told.status == delivery.pending.status and not self.told.uncertain:
            return Ended(delivery, "superseded", KNOWN)
        return None

    @property
    def is_held(self) -> bool:
        """Whether its delivery is put off: it is in no queue, and nothing of it is sent."""
        return self.delivery is not None and self.delivery.pending.held is not None

    def hold(self, why: str) -> None:
        """Puts the delivery off until `release`."""
        if self.delivery is not None:
            self.delivery.pending = self.delivery.pending.model_copy(update={"held": why})
            self.durable.set()  # whoever waits looks again
            self.durable.clear()

    def leave_to(self, route: str, *, closes: bool) -> None:
        """Another route tells the delivery, whose id receivers may know; `closes`: whether it tells
        ends.
        """
        if self.delivery is not None:
            self.delivery.pending = self.delivery.pending.model_copy(update={"route": route})
        if not self.told.opened:
            self.told = self.told.model_copy(update={"route": route, "closes": closes})

    def release(self, now: int) -> None:
        """The delivery is as new: `now` is when its time begins."""
        if self.delivery is None:
            return
        pending = self.delivery.pending
        self.delivery.pending = pending.model_copy(
            update={
                "held": None,
                "accepted_at": now,
                "deadline_at": now + pending.deadline_at - pending.accepted_at,
                "next_attempt_at": max(pending.next_attempt_at, now),
            }
        )

    def suspect(self, uncertain: bool) -> None:
        """Notes whether the channel may have taken a delivery whose outcome nobody knows."""
        self.told = self.told.model_copy(update={"uncertain": uncertain})

    def took(
        self, pending: PendingDelivery, now: int, thread: str | None, receipt: str | None = None
    ) -> None:
        """Notes that the channel took a delivery, and in which thread of a digest."""
        update: dict[str, object] = {
            "status": pending.status,
            "uncertain": False,
            "heard_at": now,
        }
        if self.told.digest is not None:
            update |= {"told_at": now, "thread": thread}
        if receipt is not None:
            update["receipt"] = receipt
        self.told = self.told.model_copy(update=update)

    def heard(self, now: int) -> None:
        """Notes that the channel was asked in vain: it is asked again when it would be reminded."""
        self.told = self.told.model_copy(update={"heard_at": now})

    def set_back(self, milliseconds: int) -> None:
        """The clock was: what the channel heard is as long ago as before."""
        if self.told.heard_at is not None:
            self.heard(max(self.told.heard_at - milliseconds, 0))

    def heard_of(self, acknowledgement: Acknowledged) -> None:
        """Notes that the channel was told, or does not want to be, that somebody looks after the
        incident. It knows of the incident what it knew before.
        """
        self.told = self.told.model_copy(update={"acknowledged_at": acknowledgement.at})

    @property
    def is_sent_at_once(self) -> bool:
        """Whether a first attempt follows when the delivery is written, so that it may arrive
        though nothing else is.
        """
        pending = self.delivery.pending if self.delivery is not None else None
        return (
            pending is not None
            and self.at_once
            and not pending.attempts
            and not self.is_held
            and self.told.digest is None
            and pending.next_attempt_at <= pending.accepted_at
        )

    def to_store(self) -> Told:
        """As `warren.notifier-state` has it: the first attempt may follow at once."""
        first = (
            self.delivery is not None
            and self.delivery.pending.kind not in ("resolved", "acknowledged")
            and self.is_sent_at_once
        )
        replaced = None
        if self.in_flight is not None and self.in_flight is not self.delivery:
            replaced = self.in_flight.pending
        uncertain = self.told.uncertain or first
        return self.told.model_copy(update={"uncertain": uncertain, "replaced": replaced})
