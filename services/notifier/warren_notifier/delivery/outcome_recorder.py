"""What becomes of a delivery: counted, logged, audited, dead-lettered, and its state updated."""

from __future__ import annotations

from dataclasses import replace

import structlog
from warren.clock import Clock
from warren.kafka.batched_writer import BatchedWriter
from warren.metrics.notifier import NOTIFIER_DELIVERIES
from warren.redaction import Redaction
from warren.words import visible

from warren_notifier.delivery.records import Records
from warren_notifier.delivery.retry_plan import Step
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.owned_state import OwnedState

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

    async def record(self, delivery: Delivery, step: Step, duration_ms: int | None = None) -> None:
        """The audit is durable before the delivery is forgotten, so that none is missing."""
        step = replace(step, detail=self._fit_to_show(step.detail))
        failed = step.outcome in ("refused", "given_up")
        _show(delivery, step, failed)
        now = self._clock.now_ms()
        records = [self._records.audit(delivery, step, now, duration_ms)]
        if failed:
            records.append(self._records.undelivered(delivery, step, now))
        await self._writer.write(records)
        if not self._owned.holds(delivery):  # its partition went to another notifier meanwhile
            return
        state = self._owned.state(delivery.partition, delivery.subject)
        delivery.pending = step.pending
        if step.outcome == "delivered":
            state.reached(step.pending)
        if step.final:
            state.remove(delivery)
        settled = self._owned.forget_settled(state)
        await self._writer.write([self._records.state(state, settled=settled)])

    def _fit_to_show(self, detail: str) -> str:
        """Without secrets and control characters, and short."""
        text = visible(self._redaction(detail[:READ], cut=len(detail) > READ))
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
