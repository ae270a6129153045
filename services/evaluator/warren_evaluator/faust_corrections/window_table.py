"""The Faust table of windows, whose writes can be waited for."""

import asyncio
from collections.abc import Awaitable, Iterator
from functools import partial
from typing import Any, cast

import faust
from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery
from faust.types import TP
from faust.types.tuples import RecordMetadata
from warren.metrics import evaluator as metrics


class SafeRecovery(Recovery):
    """A recovery after which no event is lost.

    When a changelog was replayed, Faust 0.15.3 opens the source partitions, then seeks them to
    their committed offsets, then empties the agents' queues: what was delivered in between is
    dropped, and later counted as a gap that needs no acknowledgement. Here nothing is delivered
    until the seek is done.

    A step that takes longer than `broker_request_timeout` ends Faust's recovery for good, without
    a word. Here every step ends by itself: it is done, or an error ends the worker.
    """

    async def on_recovery_completed(self, generation_id: int = 0) -> None:
        self.app.consumer.stop_flow()
        self.app.flow_control.suspend()
        await super().on_recovery_completed(generation_id)

    def wrote(self, changelog: TP, offset: int, generation: int) -> None:
        """This record of a changelog is in the table, for it came from there.

        Faust remembers only what it has replayed: in every rebalance it would replay all that was
        written since. `generation` is that in which the record was sent: of a partition that was
        others' in between, more than this record is new.
        """
        is_mine = changelog in self.active_tps and not self.in_recovery
        if is_mine and generation == self.app.consumer_generation_id:
            known: int | None = self.active_offsets.get(changelog)
            self.active_offsets[changelog] = max(offset, -1 if known is None else known)

    async def _wait(self, coro: Any, timeout: Any = None) -> None:
        del timeout
        await super()._wait(coro)


class SafeTableManager(TableManager):
    """Uses `SafeRecovery`."""

    @property
    def recovery(self) -> SafeRecovery:
        if self._recovery is None:
            self._recovery = SafeRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        assert isinstance(self._recovery, SafeRecovery)
        return self._recovery


class WindowTable(faust.Table[bytes, bytes]):
    """A table whose writes can be waited for.

    Faust's own `table[key] = value` hands the changelog record to a buffer and forgets it; a source
    event must not be acknowledged before that record is.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._partitions: dict[bytes, int] = {}
        self.replayed = 0  # records of the changelog, in all recoveries

    def read(self, key: bytes) -> bytes | None:
        value: bytes | None = self.data.get(key)
        return value

    def entries(self) -> Iterator[tuple[bytes, bytes, int]]:
        """(key, value, partition) of everything that is here. A snapshot, so any thread may ask."""
        for key, value in list(self.data.items()):
            yield key, value, self._partitions.get(key, -1)

    async def save(
        self, key: bytes, value: bytes | None, partition: int
    ) -> Awaitable[RecordMetadata]:
        """Stores the value, None to delete it. What is returned waits for the acknowledgement."""
        if value is None:
            self.data.pop(key, None)
            self._partitions.pop(key, None)
        else:
            self.data[key] = value
            self._partitions[key] = partition
        generation = self.app.consumer_generation_id
        waiting = await self.app.producer.send(
            self.changelog_topic_name, key, value, partition, None, None
        )
        sent = cast("asyncio.Future[RecordMetadata]", waiting)
        sent.add_done_callback(partial(self._acknowledged, generation))
        return sent

    def _acknowledged(self, generation: int, sent: asyncio.Future[RecordMetadata]) -> None:
        if sent.cancelled() or sent.exception() is not None:
            return
        written = sent.result()
        place = TP(written.topic, written.partition)
        cast(SafeTableManager, self.app.tables).recovery.wrote(place, written.offset, generation)

    def apply_changelog_batch(self, batch: Any) -> None:
        """A replayed part of the changelog."""
        events = list(batch)
        super().apply_changelog_batch(events)
        self.replayed += len(events)
        metrics.EVALUATOR_REPLAYED.inc(len(events))
        for event in events:
            self._partitions[event.key] = event.message.partition

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        """Forgets what belongs to other workers now: here it would only grow old."""
        mine = {tp.partition for tp in active_tps}
        for key, partition in list(self._partitions.items()):
            if partition not in mine or key not in self.data:
                self.data.pop(key, None)
                del self._partitions[key]
        await super().on_recovery_completed(active_tps, standby_tps)
