"""The records that a notifier writes: audit, dead letter, state. Pure builders.

Each lies in the partition of the group's events.
"""

from dataclasses import dataclass

from warren.contracts import DeadLetter, NotificationEvent, group_key
from warren.contracts.topics import DEAD_LETTERS, LAG_STATUS, NOTIFICATIONS, NOTIFIER_STATE
from warren.kafka.batched_writer import Record

from warren_notifier.channels.told_event import told_event
from warren_notifier.owned import Owned
from warren_notifier.routing.change import Subject
from warren_notifier.state.delivery import Delivery, Step
from warren_notifier.state.stored import to_store


@dataclass(frozen=True, slots=True)
class Records:
    """Builds records for topics whose names begin with `prefix`; `now` is in Unix milliseconds."""

    prefix: str

    def audit(
        self,
        delivery: Delivery,
        step: Step,
        now: int,
        duration_ms: int | None,
        digest: str | None = None,
    ) -> Record:
        """A step of a delivery, for `warren.notifications`."""
        pending, subject = step.pending, delivery.subject
        event = NotificationEvent(
            cluster=subject.cluster,
            group=subject.group,
            delivery_id=pending.delivery_id,
            event_id=pending.event_id,
            incident_id=pending.incident_id,
            kind=pending.kind,
            status=pending.status,
            route=pending.route,
            channel=pending.channel,
            attempt=pending.attempts,
            at=now,
            outcome=step.outcome,
            detail=step.detail,
            next_attempt_at=pending.next_attempt_at if step.outcome == "failed" else None,
            duration_ms=duration_ms,
            digest=digest,
            conditions=_conditions(delivery),
        )
        topic = NOTIFICATIONS.full_name(self.prefix)
        return Record(topic, delivery.partition, _group_key(subject), event.to_bytes())

    def undelivered(self, delivery: Delivery, step: Step, now: int) -> Record:
        """The dead letter of an event that could not be delivered."""
        pending = step.pending
        return self.dead_letter(
            delivery.partition,
            pending.offset,
            _group_key(delivery.subject),
            delivery.event.encode(),
            f"delivery {pending.delivery_id} (route {pending.route}, channel {pending.channel}) "
            f"{step.outcome.replace('_', ' ')} after {pending.attempts} attempts: {step.detail}",
            now,
        )

    def dead_letter(
        self,
        partition: int,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        reason: str,
        now: int,
    ) -> Record:
        """An event of `warren.lag-status` that could not be used, or not be delivered."""
        letter = DeadLetter.of(
            service="notifier",
            topic=LAG_STATUS.full_name(self.prefix),
            partition=partition,
            offset=offset,
            reason=reason,
            failed_at=now,
            key=key,
            value=value,
        )
        topic = DEAD_LETTERS.full_name(self.prefix)
        return Record(topic, partition, letter.key, letter.to_bytes())

    def state(self, owned: Owned, *, settled: bool) -> Record:
        """The state as it is now, for `warren.notifier-state`; a tombstone once it is settled."""
        subject = owned.subject
        key = f"{subject.cluster}|{subject.group}|{subject.event_type}".encode()
        value = None if settled else to_store(owned.state, owned.is_sent_at_once).to_bytes()
        owned.stored_bytes = len(value or b"")
        return Record(NOTIFIER_STATE.full_name(self.prefix), owned.partition, key, value)


def _conditions(delivery: Delivery) -> list[str]:
    """Incident ids of what a group's incident is made of, where that is not one of its id; none of
    a delivery that was replaced before this notifier began, whose event nobody has any more.
    """
    if not delivery.event:
        return []
    told = told_event(delivery.event)
    found = [each.data.incident_id for each in (*told.open, *told.ended)]
    return [] if found == [delivery.pending.incident_id] else found


def _group_key(subject: Subject) -> bytes:
    return group_key(subject.cluster, subject.group)
