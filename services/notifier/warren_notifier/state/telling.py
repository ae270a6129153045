"""A pending delivery, where it belongs, and what an attempt makes of it; what one channel knows of
one incident, and what it is to know next: values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from warren.contracts import DeliveryOutcome, GroupIncidentEvent, Notified, PendingDelivery
from warren_core.standing.standing import Standing

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
    event: GroupIncidentEvent | None
    """None where it was replaced and only its end is noted."""
    receipt: str | None = None
    """What the channel said when it took an earlier delivery of the incident."""
    at_most: int | None = None
    """So many news in the message that tells it, for it was in one that was refused; None: any."""
    number: int = field(default_factory=_number, compare=False, repr=False)
    now: Standing | None = field(default=None, compare=False, repr=False)
    """As the group stands by what is known of it; None: as the event says."""

    @property
    def key(self) -> Key:
        return self.pending.incident_id, self.pending.channel

    @property
    def standing(self) -> Standing:
        """What people are told. Raises TypeError without an event."""
        if self.event is None:
            raise TypeError("only what has an event is told")
        return self.now or Standing.of(self.event.data)

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


NOT_OPENED = "its opening did not arrive, so nobody awaits the end"
FLAPS = "the group flaps, and newer news replace it"
KNOWN = "the channel knows it already"
REPLACED = "newer news replace it"
NOT_LOOKED_AFTER = "nobody looks after the incident any more"
LOOKED_AFTER = "somebody looks after the incident, and need not be reminded"


@dataclass(slots=True)
class Telling:
    """There is work as long as there is a `delivery`. A newer one replaces it, unsent or not.

    Nothing changes a telling; frozen it would take longer to make, and each look makes one.
    """

    notified: Notified
    delivery: Delivery | None = None
    in_flight: Delivery | None = None
    """The delivery of an attempt that is under way; it may have been replaced since."""

    @property
    def key(self) -> Key:
        return self.notified.incident_id, self.notified.channel

    @property
    def is_under_way(self) -> bool:
        """Whether an attempt to send `delivery` is."""
        return self.delivery is not None and self.delivery.is_same(self.in_flight)

    @property
    def is_held(self) -> bool:
        """Whether its delivery is put off: it is in no queue, and nothing of it is sent."""
        return self.delivery is not None and self.delivery.pending.held is not None

    def knowing(self, **fields: object) -> Telling:
        """With other fields of what the channel knows."""
        notified = self.notified.model_copy(update=fields)
        return Telling(notified, self.delivery, self.in_flight)

    def pending(self, **fields: object) -> Telling:
        """With other fields of what is pending of its delivery, if there is one."""
        if self.delivery is None:
            return self
        return Telling(self.notified, self.delivery.updated(**fields), self.in_flight)

    def replaced(self, new: Delivery | None) -> tuple[Telling, list[Ended]]:
        """Makes `new` what the channel is to know next; what ends by that."""
        ended, old = [], self.delivery
        free = Telling(self.notified, None, self.in_flight)
        left_out = 0
        if old is not None and not self.is_under_way:
            left_out = old.pending.left_out + (old.pending.kind != "acknowledged")
            ended.append(Ended(old, "superseded", REPLACED))
        if new is None:
            return free, ended
        if old is not None:  # a receiver that asked for a pause gets it, and news wait once only
            at, left_out = old.pending.next_attempt_at, new.pending.left_out + left_out
            cannot = new.pending.cannot_wait
            cannot |= old.pending.cannot_wait and new.pending.kind in ("opened", "changed")
            new = new.updated(left_out=left_out, next_attempt_at=at, cannot_wait=cannot)
        was_put_off = self.notified.missed and not self.notified.uncertain and self.is_held
        if was_put_off:  # nobody is told afterwards of what was over, or eased, by then
            free = free.knowing(missed=False, awaits_since=None)
        if was_put_off or (new.pending.kind == "resolved" and not self.notified.opened):
            return free, [*ended, Ended(new, "suppressed", NOT_OPENED)]
        return Telling(self.notified, new, self.in_flight), ended

    def needless(self) -> Ended | None:
        """The delivery, if what has happened since it was decided makes it needless."""
        delivery = self.delivery
        if delivery is None:
            return None
        if delivery.pending.kind == "resolved" and not self.notified.opened:
            return Ended(delivery, "suppressed", NOT_OPENED)
        news = delivery.pending.kind in ("opened", "changed")
        notified, pending = self.notified, delivery.pending
        is_known = (notified.status, notified.conditions) == (pending.status, pending.conditions)
        if news and is_known and not notified.uncertain:
            return Ended(delivery, "superseded", KNOWN)
        return None

    def released(self, now: int) -> Telling:
        """The delivery is as new: `now` is when its time begins."""
        if self.delivery is None:
            return self
        pending = self.delivery.pending
        return self.pending(
            held=None,
            accepted_at=now,
            deadline_at=now + pending.deadline_at - pending.accepted_at,
            next_attempt_at=max(pending.next_attempt_at, now),
        )

    def begun(self, *, uncertain: bool) -> Telling:
        """An attempt to send the delivery begins. `uncertain`: one before it may have arrived.

        What was decided as a change while an opening was under way opens, if that has failed since.
        """
        notified, delivery = self.notified, self.delivery
        if not notified.uncertain:
            notified = notified.model_copy(update={"uncertain": True})
        if delivery is None:
            return Telling(notified)
        pending = delivery.pending
        is_opening = self.notified.status is None and pending.status in ("WARN", "ERR")
        if pending.kind == "changed" and not uncertain and is_opening:
            delivery = delivery.updated(kind="opened")
        if delivery.receipt != notified.receipt:
            delivery = replace(delivery, receipt=notified.receipt)
        return Telling(notified, delivery, delivery)

    def attempted(
        self,
        delivery: Delivery,
        step: Step,
        now: int,
        uncertain: bool | None = None,
        thread: str | None = None,
    ) -> Telling:
        """What a step of a delivery means for what the channel knows, and is to know next.

        `uncertain`: whether the channel may have taken a delivery without saying so; None after no
        attempt.
        """
        is_news = delivery.pending.kind != "acknowledged"
        update = self._heard(delivery, step, now, thread)
        if uncertain is not None and (step.outcome != "delivered" or not is_news):
            update["uncertain"] = uncertain
        notified = self.notified.model_copy(update=update)
        if delivery.is_same(self.delivery):
            left = None if step.final else replace(delivery, pending=step.pending)
            return Telling(notified, left)
        telling = Telling(notified, self.delivery)
        if telling.delivery is not None and step.outcome != "delivered":
            left_out = telling.delivery.pending.left_out + delivery.pending.left_out + is_news
            return telling.pending(left_out=left_out)
        return telling

    def _heard(
        self, delivery: Delivery, step: Step, now: int, thread: str | None
    ) -> dict[str, object]:
        """What the channel knows by that."""
        acknowledged = delivery.pending.acknowledged
        if acknowledged is not None and step.final:
            # It was told, or does not want to be: it knows of the incident what it knew before.
            return {"acknowledged_at": acknowledged.at}
        if step.outcome in ("refused", "given_up"):  # asked again when it would be reminded
            return {"heard_at": now, "missed": False, "awaits_since": None}
        if step.outcome != "delivered":
            return {}
        knows: dict[str, object] = {
            "status": step.pending.status,
            "conditions": step.pending.conditions,
            "uncertain": False,
            "heard_at": now,
            "missed": False,
            "awaits_since": None,
        }
        if self.notified.digest is not None:
            knows |= {"notified_at": now, "thread": thread}
        if step.receipt is not None:
            knows["receipt"] = step.receipt
        return knows

    def set_back(self, milliseconds: int) -> Telling:
        """The clock was: what the channel heard is as long ago as before."""
        heard_at = self.notified.heard_at
        return self if heard_at is None else self.knowing(heard_at=max(heard_at - milliseconds, 0))

    def to_store(self, is_sent_at_once: Callable[[Delivery], bool]) -> Notified:
        """As `warren.notifier-state` has it: the first attempt may follow at once."""
        first = (
            self.delivery is not None
            and self.delivery.pending.kind not in ("resolved", "acknowledged")
            and is_sent_at_once(self.delivery)
        )
        replaced = None
        if self.in_flight is not None and not self.is_under_way:
            replaced = self.in_flight.pending
        uncertain = self.notified.uncertain or first
        if replaced is None and uncertain == self.notified.uncertain:
            return self.notified
        return self.notified.model_copy(update={"uncertain": uncertain, "replaced": replaced})
