"""What becomes of a delivery, written down: audit, dead letter, state."""

from __future__ import annotations

import base64
from collections.abc import Iterable

import structlog
from warren.clock import Clock
from warren.contracts import DeadLetter, NotificationEvent, group_key
from warren.contracts.topics import DEAD_LETTERS, LAG_STATUS, NOTIFICATIONS, NOTIFIER_STATE
from warren.kafka.batched_writer import Journal, Record
from warren.metrics.notifier import NOTIFIER_DELIVERIES

from warren_notifier.delivery.retry_plan import Step
from warren_notifier.routing.change import Subject
from warren_notifier.state.owned_state import Ledger
from warren_notifier.state.subject_state import Account, Entry

log = structlog.get_logger(__name__)


class Books:
    """Enters steps into Kafka and into the ledger; durable when the call returns."""

    def __init__(self, ledger: Ledger, journal: Journal, prefix: str, clock: Clock) -> None:
        self._ledger = ledger
        self._journal = journal
        self._prefix = prefix
        self._clock = clock

    async def enter(self, entry: Entry, step: Step, duration_ms: int | None = None) -> None:
        """The audit is durable before the delivery is forgotten, so that none is missing."""
        records = [self._audit(entry, step, duration_ms)]
        if step.outcome in ("refused", "given_up"):
            records.append(self._undelivered(entry, step))
        await self._journal.write(records)
        if not self._ledger.holds(entry):  # its partition went to another notifier meanwhile
            return
        account = self._ledger.account(entry.partition, entry.subject)
        entry.delivery = step.delivery
        if step.outcome == "delivered":
            account.reached(step.delivery)
        if step.final:
            account.remove(entry)
        await self._journal.write([self.state(account)])

    def _audit(self, entry: Entry, step: Step, duration_ms: int | None) -> Record:
        """The record for `warren.notifications`; counts and logs it too."""
        delivery, subject = step.delivery, entry.subject
        NOTIFIER_DELIVERIES.labels(delivery.channel, step.outcome).inc()
        say = log.error if step.outcome in ("refused", "given_up") else log.info
        say(
            f"notification {step.outcome.replace('_', ' ')}",
            cluster=subject.cluster,
            group=subject.group,
            kind=delivery.kind,
            channel=delivery.channel,
            delivery_id=delivery.delivery_id,
            attempt=delivery.attempts,
            detail=step.detail,
        )
        event = NotificationEvent(
            cluster=subject.cluster,
            group=subject.group,
            delivery_id=delivery.delivery_id,
            event_id=delivery.event_id,
            incident_id=delivery.incident_id,
            kind=delivery.kind,
            status=delivery.status,
            route=delivery.route,
            channel=delivery.channel,
            attempt=delivery.attempts,
            at=self._clock.now_ms(),
            outcome=step.outcome,
            detail=step.detail,
            next_attempt_at=None if step.final else delivery.next_attempt_at,
            duration_ms=duration_ms,
        )
        topic = NOTIFICATIONS.full_name(self._prefix)
        return Record(topic, entry.partition, _group_key(subject), event.to_bytes())

    def state(self, account: Account) -> Record:
        """The record that remembers an account as it is now; a tombstone once it is settled."""
        if self._ledger.forget_if_settled(account):
            return self._remember(account, None)
        return self._remember(account, account.state().to_bytes())

    def settled(self, accounts: Iterable[Account]) -> list[Record]:
        """Tombstones of those that are no longer needed."""
        done = [account for account in accounts if self._ledger.forget_if_settled(account)]
        return [self._remember(account, None) for account in done]

    def _remember(self, account: Account, value: bytes | None) -> Record:
        subject = account.subject
        key = f"{subject.cluster}|{subject.group}|{subject.event_type}".encode()
        return Record(NOTIFIER_STATE.full_name(self._prefix), account.partition, key, value)

    def dead_letter(
        self, partition: int, offset: int, key: bytes | None, value: bytes | None, reason: str
    ) -> Record:
        """An event of `warren.lag-status` that could not be used, or not be delivered."""
        letter = DeadLetter(
            service="notifier",
            topic=LAG_STATUS.full_name(self._prefix),
            partition=partition,
            offset=offset,
            reason=reason,
            failed_at=self._clock.now_ms(),
            key=None if key is None else base64.b64encode(key),
            value=None if value is None else base64.b64encode(value),
        )
        return Record(DEAD_LETTERS.full_name(self._prefix), partition, key, letter.to_bytes())

    def _undelivered(self, entry: Entry, step: Step) -> Record:
        delivery = step.delivery
        return self.dead_letter(
            entry.partition,
            delivery.offset,
            _group_key(entry.subject),
            entry.event.encode(),
            f"delivery {delivery.delivery_id} (route {delivery.route}, channel {delivery.channel}) "
            f"{step.outcome.replace('_', ' ')} after {delivery.attempts} attempts: {step.detail}",
        )


def _group_key(subject: Subject) -> bytes:
    return group_key(subject.cluster, subject.group)
