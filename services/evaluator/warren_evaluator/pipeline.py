"""The order of effects: outputs, table, source; each is acknowledged before the next one.

So a committed source offset never runs ahead of outputs or state. When the worker dies in between,
its events come again: those whose state was stored are recognised as duplicates, the others give
the same outputs, with the same ids.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from warren.clock import Clock
from warren.judgement.state_codec import is_gone
from warren.metrics import evaluator as metrics

from warren_evaluator.batch import BatchEvaluator
from warren_evaluator.gone_groups import GoneGroups
from warren_evaluator.records import BatchResult, Counts, Publication, SourceRecord, Write


class Table(Protocol):
    """Where the windows are kept."""

    def read(self, key: bytes) -> bytes | None: ...

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]: ...


class Pipeline:
    """Takes batches through evaluation, outputs and table.

    `publish` hands a record to the producer and returns what waits for its acknowledgement;
    `committed` gives the committed offset of each partition of `warren.offsets`.
    """

    def __init__(
        self,
        evaluator: BatchEvaluator,
        table: Table,
        publish: Callable[[Publication], Awaitable[Awaitable[Any]]],
        committed: Callable[[], Mapping[int, int]],
        clock: Clock,
    ) -> None:
        self._evaluator = evaluator
        self._table = table
        self._publish = publish
        self._committed = committed
        self._clock = clock
        self.gone = GoneGroups()

    async def run(self, records: Sequence[SourceRecord]) -> None:
        """After it has returned, the records may be acknowledged; when it raises, they must not."""
        started = self._clock.monotonic()
        for record in records:
            self.gone.saw(record.partition, record.offset)
        result = self._evaluator.evaluate(records, self._table.read)
        await _acknowledged([await self._publish(item) for item in result.publications])
        await _acknowledged([await self._save(write) for write in self._writes(result)])
        for key, partition, offset in result.gone:
            self.gone.add(key, partition, offset)
        _count(result.counts)
        metrics.EVALUATOR_BATCH_SECONDS.observe(self._clock.monotonic() - started)

    def _writes(self, result: BatchResult) -> list[Write]:
        """The batch's writes, and the removal of groups that have been gone for long enough."""
        written = {write.key for write in result.writes}
        removals = [
            Write(key, None, partition)
            for key, partition in self.gone.take_due(self._committed())
            if key not in written and is_gone(self._table.read(key) or b"")
        ]
        return [*result.writes, *removals]

    async def _save(self, write: Write) -> Awaitable[Any]:
        return await self._table.save(write.key, write.value, write.partition)


async def _acknowledged(sent: Sequence[Awaitable[Any]]) -> None:
    if sent:
        await asyncio.gather(*sent)


def _count(counts: Counts) -> None:
    metrics.EVALUATOR_EVENTS.inc(counts.events)
    metrics.EVALUATOR_DUPLICATES.inc(counts.duplicates)
    metrics.EVALUATOR_DEAD_LETTERS.inc(counts.dead_letters)
    metrics.EVALUATOR_PARTITIONS.inc(counts.partitions)
    metrics.EVALUATOR_DISCARDED_STATES.inc(counts.discarded_states)
    for status in counts.status_changes:
        metrics.EVALUATOR_STATUS_CHANGES.labels(status).inc()
