"""What becomes of a delivery: counted, logged, audited, dead-lettered, and its state updated."""

from __future__ import annotations

from dataclasses import replace

import structlog
from warren.clock import Clock
from warren.kafka.batched_writer import BatchedWriter, Record
from warren.metrics.notifier import NOTIFIER_DELIVERIES
from warren.redaction import Redaction
from warren.words import visible

from warren_notifier.delivery.records import Records
from warren_notifier.delivery.retry_plan import Step, without_attempt
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.owned_state import OwnedState
from warren_notifier.state.telling import REPLACED, Ended, Telling

log = structlog.get_logger(__name__)

DETAIL = 300  # characters of what a receiver said
READ = 4_096  # characters of it that are looked at


class OutcomeRecorder:
    """Records steps in Kafka and in the owned state; durable when the call returns."""

    def __init__(
        self,
        owned: OwnedState,
        writer: BatchedWriter,
        records: Records,
        redaction: Redaction,
        clock: Clock,
    ) -> None:
        self._owned = owned
        self._writer = writer
        self._records = records
        self._redaction = redaction
        self._clock = clock

    def ended(self, one: Ended) -> Record:
        """The audit of a delivery that ended without an attempt, to be written with the state."""
        step = without_attempt(one.delivery.pending, one.outcome, one.why)
        _show(one.delivery, step, failed=False)
        return self._records.audit(one.delivery, step, self._clock.now_ms(), None)

    def put_off(self, delivery: Delivery, why: str) -> Record:
        """The audit of a delivery that is put off, to be written with the state."""
        step = without_attempt(delivery.pending, "silenced", self._fit_to_show(why))
        _show(delivery, step, failed=False)
        return self._records.audit(delivery, step, self._clock.now_ms(), None)

    async def remember(self, delivery: Delivery) -> None:
        """Writes the state of the delivery's subject as it is."""
        if self._owned.owns(delivery):
            state = self._owned.state(delivery.partition, delivery.subject)
            await self._writer.write([self._records.state(state, settled=False)])

    async def record(
        self,
        delivery: Delivery,
        step: Step,
        duration_ms: int | None = None,
        *,
        uncertain: bool | None = None,
        digest: str | None = None,
        thread: str | None = None,
    ) -> None:
        """The audit is durable before the delivery is forgotten, so that none is missing.

        `uncertain`: whether the channel may have taken a delivery without saying so; None after
        no attempt. `digest`, `thread`: of the message that told it with others.
        """
        if step.outcome == "failed" and self._replaced(delivery):
            step = replace(step, outcome="superseded", detail=f"{step.detail}; {REPLACED}")
        step = replace(step, detail=self._fit_to_show(step.detail))
        failed = step.outcome in ("refused", "given_up")
        _show(delivery, step, failed)
        now = self._clock.now_ms()
        records = [self._records.audit(delivery, step, now, duration_ms, digest)]
        if failed:
            records.append(self._records.undelivered(delivery, step, now))
        await self._writer.write(records)
        if not self._owned.owns(delivery):  # its partition went to another notifier meanwhile
            return
        records = []
        if step.outcome == "failed" and self._replaced(delivery):  # while that was written
            records.append(self.ended(Ended(delivery, "superseded", REPLACED)))
        state = self._owned.state(delivery.partition, delivery.subject)
        telling = state.telling(delivery)
        if telling is not None:
            acknowledged = delivery.pending.acknowledged
            if acknowledged is not None and step.final:
                telling.heard_of(acknowledged)
            elif step.outcome == "delivered":
                telling.took(step.pending, now, thread, step.receipt)
            elif failed:
                telling.heard(now)
            _note(telling, delivery, step, uncertain)
            delivery.wait(self._clock)  # from now on, whatever becomes of the wall clock
            state.forget_done()
        settled = self._owned.forget_settled(state)
        await self._writer.write([*records, self._records.state(state, settled=settled)])

    def _replaced(self, delivery: Delivery) -> bool:
        return self._owned.owns(delivery) and not self._owned.holds(delivery)

    def _fit_to_show(self, detail: str) -> str:
        """Without secrets and control characters, and short."""
        text = visible(self._redaction(detail[:READ], cut=len(detail) > READ))
        return text if len(text) <= DETAIL else f"{text[:DETAIL]}…"


def _note(telling: Telling, delivery: Delivery, step: Step, uncertain: bool | None) -> None:
    """What a step means for what the channel knows, and for what it is to know next."""
    telling.in_flight = None
    is_news = delivery.pending.kind != "acknowledged"
    if uncertain is not None and (step.outcome != "delivered" or not is_news):
        telling.suspect(uncertain)
    if telling.delivery is delivery:
        delivery.pending = step.pending
        if step.final:
            telling.delivery = None
    elif telling.delivery is not None and step.outcome != "delivered":
        left_out = telling.delivery.pending.left_out + delivery.pending.left_out + is_news
        telling.delivery.pending = telling.delivery.pending.model_copy(
            update={"left_out": left_out}
        )


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
