"""Faust's connection to Kafka, with a consumer that loses no event in a rebalance."""

from collections.abc import Mapping
from typing import Any

import structlog
from aiokafka import TopicPartition
from faust.transport.drivers import aiokafka
from faust.types import TP
from warren.metrics import evaluator as metrics

log = structlog.get_logger(__name__)


class SafeConsumerThread(aiokafka.AIOKafkaConsumerThread):
    """A thread that seeks every source partition back, and may be stopped when it has ended."""

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Where nothing is committed yet, back to the beginning.

        aiokafka leaves such a partition where it is. What Faust fetched and threw away amid a
        rebalance would not come again, and a later commit would run ahead of it.
        """
        committed: Mapping[TP, int] = await self.call_thread(self._seek_to_committed)
        return committed

    async def _seek_to_committed(self) -> Mapping[TP, int]:
        consumer = self._ensure_consumer()
        committed: Mapping[TP, int] = await consumer.seek_to_committed()
        for partition, offset in committed.items():
            if not offset and not self.consumer._is_changelog_tp(partition):
                consumer.seek(partition, 0)  # if that is deleted: auto.offset.reset, the earliest
        return committed

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Look whether a partition's events are judged, once it is known where it stands.

        Before that, and after it was given away, upstream's look ends the worker.
        """
        subscription = self._ensure_consumer()._fetcher._subscriptions.subscription
        assignment = None if subscription is None else subscription.assignment
        partition = TopicPartition(tp.topic, tp.partition)
        state = None if assignment is None else assignment.state_value(partition)
        if state is not None and state.has_valid_position:
            super().verify_event_path(now, tp)

    def _stopped_set(self) -> None:
        # A crash anywhere in the worker ends this thread too, which closes its event loop. mode 0.7
        # then stops it from outside: too late for the loop, and reported as a second crash.
        try:
            super()._stopped_set()
        except RuntimeError:
            if not self.thread_loop.is_closed():
                raise
            self._stopped.set()


class SafeConsumer(aiokafka.Consumer):
    """Uses `SafeConsumerThread`, and says which events it had to pass over."""

    def _new_consumer_thread(self) -> SafeConsumerThread:
        return SafeConsumerThread(self, loop=self.loop, beacon=self.beacon)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:
        # A copy: Faust's set is emptied by a rebalance, and aiokafka takes none for all partitions.
        copy = None if active_partitions is None else set(active_partitions)
        return await super()._getmany(copy, timeout)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Of a gap before `offset_to`, which retention tore: at least so many events.

        Whether the committed offset itself was read, just before `offset_from`, Faust cannot say.
        """
        skipped = offset_to - offset_from
        metrics.EVALUATOR_SKIPPED.inc(skipped)
        log.warning(
            "events were deleted before they were judged: add workers, or raise retention.ms",
            topic=tp.topic,
            partition=tp.partition,
            offset=offset_from,
            events=skipped,
        )
        await super()._add_gap(tp, offset_from, offset_to)


class SafeTransport(aiokafka.Transport):
    """Uses `SafeConsumer`."""

    Consumer = SafeConsumer
