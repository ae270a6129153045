"""What becomes of a delivery: counted, logged, audited, dead-lettered, and decided upon; and the
records that a notifier writes, each in the partition of the group's events.
"""

from dataclasses import dataclass, replace

import structlog
from warren.clock import Clock
from warren.contracts import DeadLetter, NotificationEvent, group_key
from warren.contracts.topics import DEAD_LETTERS, INCIDENTS, NOTIFICATIONS, NOTIFIER_STATE
from warren.kafka.batched_writer import BatchedWriter, Record
from warren.metrics.notifier import NOTIFIER_DELIVERIES
from warren.redaction import Redaction
from warren.words import visible

from warren_notifier.decide import decide
from warren_notifier.inputs import Attempted, Begun, Effect, MayArrive, NotSent, PutOff
from warren_notifier.owned import Line, Owned, OwnedSubjects
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.holds import Holds, Rules
from warren_notifier.state.subject_state import to_store
from warren_notifier.state.telling import REPLACED, Delivery, Ended, Step


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
        return Record(topic, delivery.partition, event.key, event.to_bytes())

    def dead_letter(
        self,
        partition: int,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        reason: str,
        now: int,
    ) -> Record:
        """An event of `warren.incidents` that could not be used, or not be delivered."""
        letter = DeadLetter.of(
            service="notifier",
            topic=INCIDENTS.full_name(self.prefix),
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
        key = group_key(subject.cluster, subject.group)
        value = None if settled else to_store(owned.state, owned.is_sent_at_once).to_bytes()
        owned.stored_bytes = len(value or b"")
        return Record(NOTIFIER_STATE.full_name(self.prefix), owned.partition, key, value)


def _conditions(delivery: Delivery) -> list[str]:
    """Incident ids of what a group's incident is made of, where that is not one of its id; none of
    a delivery that was replaced before this notifier began, whose event nobody has any more.
    """
    if delivery.event is None:
        return []
    data = delivery.event.data
    found = [each.incident_id for each in (*data.open, *data.ended)]
    return [] if found == [delivery.pending.incident_id] else found


log = structlog.get_logger(__name__)

DETAIL = 300  # characters of what a receiver said
READ = 4_096  # characters of it that are looked at


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Records steps in Kafka and in the owned subjects; durable when the call returns. With it goes
    what all that decides and delivers has in common.
    """

    owned: OwnedSubjects
    records: Records
    writer: BatchedWriter
    router: Router
    holds: Holds
    redaction: Redaction
    clock: Clock

    def rules(self) -> Rules:
        """As they are now: people ask for other things as time goes on."""
        return Rules(self.router, self.holds, self.clock.now_ms())

    def audit(self, owned: Owned, effect: Effect) -> Record | None:
        """The audit of what ended without an attempt, or is put off, to be written with the state;
        None of other effects.
        """
        match effect:
            case Ended(delivery):
                step = effect.step
            case PutOff(delivery, why):  # it is written anew when it is let go
                owned.noted(delivery.key).written = None
                step = Step(delivery.pending, "silenced", self._fit_to_show(why))
            case _:
                return None
        _show(delivery, step, failed=False)
        return self.records.audit(delivery, step, self.clock.now_ms(), None)

    async def begin(self, line: Line) -> Begun | None:
        """What the channel is to know now; None when that has just changed.

        That something may arrive is durable before it is sent: its end is then owed.
        """
        telling, delivery = line.telling, line.delivery
        if telling is None or delivery is None or telling.is_held:
            return None
        uncertain = telling.notified.uncertain
        is_written = line.owned.is_sent_at_once(delivery) or delivery.pending.kind == "resolved"
        if not is_written and not uncertain:
            self._decide(line.owned, MayArrive(delivery))
            if self.owned.owns(delivery):
                await self.writer.write([self.records.state(line.owned, settled=False)])
            if not line.owned.state.holds(delivery):
                self._decide(line.owned, NotSent(delivery))
                return None
        self._decide(line.owned, Begun(delivery, uncertain))
        return None if line.delivery is None else Begun(line.delivery, uncertain)

    async def record(self, attempt: Attempted) -> None:
        """The audit is durable before the delivery is forgotten, so that none is missing."""
        delivery, step = attempt.delivery, attempt.step
        is_replaced = self.owned.owns(delivery) and self.owned.holding(delivery) is None
        if step.outcome == "failed" and is_replaced:
            step = replace(step, outcome="superseded", detail=f"{step.detail}; {REPLACED}")
        detail = self._fit_to_show(step.detail)
        if detail != step.detail:
            step = replace(step, detail=detail)
        failed = step.outcome in ("refused", "given_up")
        _show(delivery, step, failed)
        now = self.clock.now_ms()
        records = [self.records.audit(delivery, step, now, attempt.milliseconds, attempt.digest)]
        if failed:
            pending = step.pending
            reason = (
                f"delivery {pending.delivery_id} (route {pending.route}, channel "
                f"{pending.channel}) {step.outcome.replace('_', ' ')} after {pending.attempts} "
                f"attempts: {step.detail}"
            )
            key = group_key(delivery.subject.cluster, delivery.subject.group)
            at = (delivery.partition, pending.offset)
            value = delivery.event.to_bytes() if delivery.event is not None else None
            records.append(self.records.dead_letter(*at, key, value, reason, now))
        await self.writer.write(records)
        if not self.owned.owns(delivery):  # its partition went to another notifier meanwhile
            return
        owned = self.owned.of(delivery.partition, delivery.subject)
        attempt = attempt if step is attempt.step else replace(attempt, step=step)
        ended = self._decide(owned, attempt)
        owned.line(delivery).wait(self.clock)  # from now on, whatever becomes of the wall clock
        settled = self.owned.forget_settled(owned)
        await self.writer.write([*ended, self.records.state(owned, settled=settled)])

    def _decide(self, owned: Owned, given: Attempted | Begun | MayArrive | NotSent) -> list[Record]:
        """Takes over what an attempt leads to; audits of what it ended, or put off."""
        rules = self.rules()
        decided = decide(owned.state, given, rules, rules.at)
        owned.put(decided.subject)
        if not decided.effects:
            return []
        return [audit for one in decided.effects if (audit := self.audit(owned, one)) is not None]

    def _fit_to_show(self, detail: str) -> str:
        """Without secrets and control characters, and short."""
        text = visible(self.redaction(detail[:READ], cut=len(detail) > READ))
        return text if len(text) <= DETAIL else f"{text[:DETAIL]}…"


def _show(delivery: Delivery, step: Step, failed: bool) -> None:
    """Counts and logs a step."""
    pending, subject = step.pending, delivery.subject
    NOTIFIER_DELIVERIES.labels(pending.channel, step.outcome).inc()
    say = log.error if failed else log.info
    say(
        f"notification {step.outcome.replace('_', ' ')}",
        cluster=subject.cluster,
        group=subject.group,
        kind=pending.kind,
        channel=pending.channel,
        delivery_id=pending.delivery_id,
        attempt=pending.attempts,
        detail=step.detail,
    )
