"""The order of effects: outputs, table, source; each is acknowledged before the next one.

So a committed source offset never runs ahead of outputs or state. When the worker dies in between,
its events come again: those whose state was stored are recognised as duplicates, the others give
the same outputs, with the same ids.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import structlog
from warren.clock import Clock
from warren.errors import TooLarge
from warren.metrics import evaluator as metrics
from warren_core.judgement.state_codec import is_gone

from warren_evaluator.batch import BatchEvaluator, GoneGroups
from warren_evaluator.faust_corrections.oversize import is_oversize
from warren_evaluator.records import BatchResult, Counts, Publication, SourceRecord, Table, Write

Item = TypeVar("Item", Publication, Write)

# Events and compressed states of a batch: more would take longer than a tenth of a second.
LARGE_BATCH_BYTES = 2**18

log = structlog.get_logger(__name__)


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
        self.judged = 0  # events; a batch under way counts too

    async def run(self, records: Sequence[SourceRecord]) -> None:
        """After it has returned, the records may be acknowledged; when it raises, they must not."""
        started = self._clock.monotonic()
        for record in records:
            self.gone.saw(record.partition, record.offset)
        result = await self._evaluate(records)
        await self._all_acknowledged(self._publish, result.publications, result.counts)
        await self._all_acknowledged(self._save, self._writes(result), result.counts)
        for key, partition, offset in result.gone:
            self.gone.add(key, partition, offset)
        self.judged += len(records)
        _count(result.counts)
        metrics.EVALUATOR_BATCH_SECONDS.observe(self._clock.monotonic() - started)

    async def _evaluate(self, records: Sequence[SourceRecord]) -> BatchResult:
        """In a thread where huge groups would keep the loop from everything else for seconds."""
        size = sum(
            len(record.value or b"") + len(self._table.read(record.key or b"") or b"")
            for record in records
        )
        if size < LARGE_BATCH_BYTES:
            return self._evaluator.evaluate(records, self._table.read)
        return await asyncio.to_thread(self._evaluator.evaluate, records, self._table.read)

    async def _all_acknowledged(
        self,
        send: Callable[[Item], Awaitable[Awaitable[Any]]],
        items: Sequence[Item],
        counts: Counts,
    ) -> None:
        """Sends all and waits for all; what the topic does not take becomes a dead letter."""
        sent = [await _handed_over(send, item) for item in items]
        outcomes = await asyncio.gather(*sent, return_exceptions=True)
        problems = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        for problem in problems:
            if not is_oversize(problem):
                raise problem
        if not problems:
            return
        for item, outcome in zip(items, outcomes, strict=True):
            # It may have shared a batch with what was too large.
            if isinstance(outcome, BaseException) and not await _is_taken(send, item):
                await self._bury(item, counts)

    async def _bury(self, item: Publication | Write, counts: Counts) -> None:
        assert item.source is not None  # a tombstone, which has none, is not too large
        what = item.topic if isinstance(item, Publication) else "the changelog"
        violation = TooLarge(what, len(item.value or b""))
        counts.dead_letters += 1
        name = (item.key or b"").decode(errors="replace")
        log.error("too large to publish", group=name, reason=violation.reason)
        letter = self._evaluator.dead_letter(item.source, violation.reason, whole=False)
        await (await self._publish(letter))

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


async def _handed_over(
    send: Callable[[Item], Awaitable[Awaitable[Any]]], item: Item
) -> Awaitable[Any]:
    """What waits for the acknowledgement, also where the client finds it too large at once."""
    try:
        return await send(item)
    except Exception as error:
        if not is_oversize(error):
            raise
        refused = asyncio.get_running_loop().create_future()
        refused.set_exception(error)
        return refused


async def _is_taken(send: Callable[[Item], Awaitable[Awaitable[Any]]], item: Item) -> bool:
    """Sends it alone; False when it is too large for the topic."""
    try:
        await (await send(item))
    except Exception as error:
        if not is_oversize(error):
            raise
        return False
    return True


def _count(counts: Counts) -> None:
    metrics.EVALUATOR_EVENTS.inc(counts.events)
    metrics.EVALUATOR_DUPLICATES.inc(counts.duplicates)
    metrics.EVALUATOR_DEAD_LETTERS.inc(counts.dead_letters)
    metrics.EVALUATOR_PARTITIONS.inc(counts.partitions)
    metrics.EVALUATOR_DISCARDED_STATES.inc(counts.discarded_states)
    for status in counts.status_changes:
        metrics.EVALUATOR_STATUS_CHANGES.labels(status).inc()
