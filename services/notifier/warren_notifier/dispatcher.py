"""From changes to deliveries: the heart of the service, without a Kafka consumer.

What a change leads to is written as one record of the subject's account, with the change's offset,
before the source's position is committed and before anything is sent. After kill -9 a change is
therefore either not taken in, and is read again, or taken in, and then recognised as a replay.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import structlog
from warren.clock import Clock
from warren.contracts import NotifierState
from warren.errors import ContractViolation
from warren.kafka.batched_writer import Journal, Record
from warren.metrics import notifier as metrics

from warren_notifier.delivery.group_queues import Lanes
from warren_notifier.delivery.outcome_recorder import Books
from warren_notifier.delivery.retry_plan import without_attempt
from warren_notifier.routing.change import Change, Subject, read_change
from warren_notifier.routing.decisions import Decision, Desk
from warren_notifier.source.backlog import Extent, History
from warren_notifier.state.owned_state import Ledger
from warren_notifier.state.subject_state import Account, Entry

log = structlog.get_logger(__name__)

GROUP_QUEUE = 50  # most pending deliveries of a group on a channel: its state is one record


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record of `warren.lag-status`."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class Notifier:
    """Decides with `desk`, remembers in `ledger`, writes through `books`, delivers in `lanes`."""

    def __init__(
        self,
        desk: Desk,
        ledger: Ledger,
        books: Books,
        journal: Journal,
        lanes: Mapping[str, Lanes],
        queue_size: int,
        clock: Clock,
    ) -> None:
        self._desk = desk
        self._ledger = ledger
        self._books = books
        self._journal = journal
        self._lanes = lanes
        self._queue_size = queue_size
        self._clock = clock
        self._histories: dict[int, History] = {}

    async def take_up(
        self, partition: int, states: Sequence[NotifierState], extent: Extent
    ) -> None:
        """Serves a partition from now on, and goes on with its pending deliveries."""
        accounts = self._ledger.take_up(partition, states, extent.end, extent.committed)
        if extent.history is not None:
            self._histories[partition] = extent.history
        for account in accounts:
            for entry in account.entries:
                await self._admit(entry)

    async def leave(self, partitions: Collection[int], grace: float) -> None:
        """Serves some partitions no longer; attempts under way have `grace` seconds to finish."""
        for lanes in self._lanes.values():
            await lanes.leave(partitions, grace)
        for partition in partitions:
            self._ledger.drop(partition)
            self._histories.pop(partition, None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._journal.drain()  # the next owner reads what we wrote

    async def accept(self, records: Sequence[SourceRecord]) -> dict[int, int]:
        """Makes durable what follows from some records, and starts to deliver it.

        Returns the positions that may now be committed, by partition.
        """
        batch = _Batch()
        positions: dict[int, int] = {}
        for record in records:
            history = self._histories.get(record.partition)
            change = self._read(record, batch)
            if history is not None:
                self._in_history(history, record, change, batch)
            elif change is not None:
                self._decide(record.partition, change, record.offset, batch)
            if record.partition not in self._histories:
                positions[record.partition] = record.offset + 1
        await self._make_durable(batch)
        return positions

    def committed(self, positions: Mapping[int, int]) -> None:
        """Notes what is committed: events below these positions will not be read again."""
        for partition, position in positions.items():
            self._ledger.committed(partition, position)

    async def settle(self) -> None:
        """Forgets what was kept only to recognise replays that cannot come any more."""
        await self._journal.write(self._books.settled(self._ledger.accounts()))

    async def repeat(self) -> None:
        """Sends again what is due again."""
        batch, now = _Batch(), self._clock.now_ms()
        for account in self._ledger.accounts():
            if account.incident is None or account.change is None:
                continue
            under_way = account.under_way(account.incident.incident_id)
            decision = self._desk.on_repeat(account.change, account.incident, under_way, now)
            if decision is not None:
                self._note(account, account.change, decision, batch)
        await self._make_durable(batch)

    def _read(self, record: SourceRecord, batch: _Batch) -> Change | None:
        try:
            change = read_change(record.value)
        except ContractViolation as violation:
            metrics.NOTIFIER_EVENTS.labels("refused").inc()
            log.error(
                "event refused, dead-lettered",
                partition=record.partition,
                offset=record.offset,
                reason=violation.reason,
            )
            batch.records.append(
                self._books.dead_letter(
                    record.partition, record.offset, record.key, record.value, violation.reason
                )
            )
            return None
        if change is None:
            metrics.NOTIFIER_EVENTS.labels("foreign").inc()
        return change

    def _in_history(
        self, history: History, record: SourceRecord, change: Change | None, batch: _Batch
    ) -> None:
        if change is not None and history.covers(record.offset):
            metrics.NOTIFIER_EVENTS.labels("history").inc()
            history.fold(change, record.offset)
        if not history.ends_with(record.offset):
            return
        del self._histories[record.partition]
        for lasting, offset in history.lasting():
            self._decide(record.partition, lasting, offset, batch)
        if change is not None and not history.covers(record.offset):
            self._decide(record.partition, change, record.offset, batch)

    def _decide(self, partition: int, change: Change, offset: int, batch: _Batch) -> None:
        account = self._ledger.account(partition, change.subject)
        if offset <= account.offset:
            metrics.NOTIFIER_EVENTS.labels("replayed").inc()
            return
        account.offset = offset
        incident = account.incident
        under_way = account.under_way(change.incident_id)
        decision = self._desk.on_change(change, offset, incident, under_way, self._clock.now_ms())
        result = "routed" if decision.deliveries else "unrouted"
        metrics.NOTIFIER_EVENTS.labels(result).inc()
        self._note(account, change, decision, batch)

    def _note(self, account: Account, change: Change, decision: Decision, batch: _Batch) -> None:
        account.keep(change, decision.incident)
        batch.accounts[account.partition, account.subject] = account
        batch.entries += [account.add(delivery, change.event) for delivery in decision.deliveries]

    async def _make_durable(self, batch: _Batch) -> None:
        states = [self._books.state(account) for account in batch.accounts.values()]
        await self._journal.write([*batch.records, *states])
        for entry in batch.entries:
            if self._ledger.holds(entry):
                await self._admit(entry)

    async def _admit(self, entry: Entry) -> None:
        """Queues a delivery; where there is no room, one is given up, and said so."""
        lanes = self._lanes.get(entry.delivery.channel)
        if lanes is None:
            await self._give_up(entry, "the channel is no longer configured")
        elif len(lanes) >= self._queue_size:
            await self._give_up(entry, f"{self._queue_size} deliveries are pending there already")
        else:
            lanes.add(entry)
            crowded_out = lanes.shorten(entry, GROUP_QUEUE)
            if crowded_out is not None:
                await self._give_up(crowded_out, f"{GROUP_QUEUE} newer ones of the group wait")

    async def _give_up(self, entry: Entry, why: str) -> None:
        await self._books.enter(entry, without_attempt(entry.delivery, "given_up", why))


@dataclass(slots=True)
class _Batch:
    """What some records lead to."""

    records: list[Record] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    accounts: dict[tuple[int, Subject], Account] = field(default_factory=dict)
