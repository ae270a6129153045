"""From events to decisions: what is read is decided, written, and only then told.

What a change leads to is written as one record of the subject's state, with the change's offset,
before the source's position is committed and before anything is sent. After kill -9 a change is
therefore either not taken in, and is read again, or taken in, and then recognised as a replay.
"""

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence

import structlog
from warren.contracts import NotificationTest, NotifierState
from warren.errors import ContractViolation
from warren.metrics import notifier as metrics
from warren.words import visible

from warren_notifier.inputs import Changed, TakenUp, Tested
from warren_notifier.outbox import Batch, Outbox
from warren_notifier.routing import trial
from warren_notifier.routing.change import Change, read_change
from warren_notifier.source.consumer import Backlog, PartitionStart, SeenEvents, SourceRecord

log = structlog.get_logger(__name__)


class Dispatcher:
    """Hands what is read to `outbox`, as long as its partition is ours."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox, self._outcomes = outbox, outbox.outcomes
        self._owned = self._outcomes.owned
        self._backlogs: dict[int, Backlog] = {}
        self._seen = SeenEvents()

    async def assign(
        self, partition: int, stored: Sequence[NotifierState], start: PartitionStart
    ) -> None:
        """Serves a partition from now on, and goes on with its pending deliveries."""
        if start.backlog is not None:
            self._backlogs[partition] = start.backlog
        batch = self._outbox.batch()
        found = dict(self._owned.assign(partition, stored, start.end, start.committed))
        for owned, ended in found.items():
            batch.decide(owned, TakenUp(ended))
            self._outbox.on_change(owned)
        await self._outbox.write(batch)

    async def revoke(self, partitions: Collection[int], grace: float) -> None:
        """Serves some partitions no longer; attempts under way have `grace` seconds to finish."""
        for worker in self._outbox.workers.values():
            await worker.revoke(partitions, grace)
        for partition in partitions:
            self._owned.revoke(partition)
            self._seen.forget(partition)
            self._backlogs.pop(partition, None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._outcomes.writer.drain()  # the next owner reads what we wrote

    async def accept(self, records: Sequence[SourceRecord]) -> dict[int, int]:
        """Makes durable what follows from some records, and starts to deliver it.

        Returns the positions that may now be committed, by partition.
        """
        batch = self._outbox.batch()
        positions: dict[int, int] = {}
        for record in records:
            backlog = self._backlogs.get(record.partition)
            change = self._read(record, batch)
            if backlog is not None:
                self._in_backlog(backlog, record, change, batch)
            elif change is not None:
                self._decide(record.partition, change, record.offset, batch)
            if record.partition not in self._backlogs:
                positions[record.partition] = record.offset + 1
        await self._outbox.write(batch)
        return positions

    async def pass_over(self, read_to: Mapping[int, int]) -> dict[int, int]:
        """Below these offsets, by partition, there is no record any more: a past that ends in
        something else has been read as well. Returns as `accept` does.
        """
        batch, positions = self._outbox.batch(), dict[int, int]()
        for partition, offset in read_to.items():
            backlog = self._backlogs.get(partition)
            if backlog is not None and backlog.is_read_to(offset):
                self._end_backlog(partition, backlog, batch)
                positions[partition] = offset
        await self._outbox.write(batch)
        return positions

    def committed(self, positions: Mapping[int, int]) -> None:
        """Notes what is committed: events below these positions will not be read again."""
        for partition, position in positions.items():
            self._owned.committed(partition, position)

    async def test(self, partition: int, test: NotificationTest) -> None:
        """Tells a route's channels of an incident that there is not, if the partition is ours."""
        route = next((one for one in self._outcomes.router.routes if one.name == test.route), None)
        if partition not in self._owned.partitions or route is None:
            return
        batch = self._outbox.batch()
        opening = trial.opening(test, batch.rules.at)
        batch.decide(self._owned.of(partition, opening.subject), Tested(opening, route))
        await self._outbox.write(batch)

    def _read(self, record: SourceRecord, batch: Batch) -> Change | None:
        try:
            return read_change(record.key, record.value)
        except ContractViolation as violation:
            metrics.NOTIFIER_EVENTS.labels("refused").inc()
            log.error(
                "event refused, dead-lettered",
                partition=record.partition,
                offset=record.offset,
                reason=visible(violation.reason),
            )
            batch.records.append(
                self._outcomes.records.dead_letter(
                    record.partition,
                    record.offset,
                    record.key,
                    record.value,
                    visible(violation.reason),
                    batch.rules.at,
                )
            )
            return None

    def _in_backlog(
        self, backlog: Backlog, record: SourceRecord, change: Change | None, batch: Batch
    ) -> None:
        if change is not None and backlog.covers(record.offset):
            metrics.NOTIFIER_EVENTS.labels("history").inc()
            backlog.fold(change, record.offset)
        if not backlog.is_read_to(record.offset + 1):
            return
        self._end_backlog(record.partition, backlog, batch)
        if change is not None and not backlog.covers(record.offset):
            self._decide(record.partition, change, record.offset, batch)

    def _end_backlog(self, partition: int, backlog: Backlog, batch: Batch) -> None:
        del self._backlogs[partition]
        for lasting, offset in backlog.lasting():
            self._decide(partition, lasting, offset, batch)

    def _decide(self, partition: int, change: Change, offset: int, batch: Batch) -> None:
        if self._seen.has(partition, change.event_id):
            metrics.NOTIFIER_EVENTS.labels("replayed").inc()
            return
        counted = batch.decide(self._owned.of(partition, change.subject), Changed(change, offset))
        if counted != "replayed":
            self._seen.add(partition, change.event_id)
        metrics.NOTIFIER_EVENTS.labels(counted).inc()
