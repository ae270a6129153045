"""The topics of the home cluster: offset events are folded, ignored or dead-lettered; what was
measured, and what could not be used, is published: acknowledged, or an error.
"""

import asyncio
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence

import structlog
from confluent_kafka import Message
from warren.clock import Clock
from warren.contracts import (
    DEAD_LETTERS,
    FRESHNESS,
    MAX_MESSAGE_BYTES,
    DeadLetter,
    FreshnessEvent,
    OffsetEvent,
    group_key,
)
from warren.errors import ContractViolation, PublishFailed
from warren.kafka.connection import Trouble
from warren.kafka.producer import EventProducer
from warren.kafka.topic_reader import newest_values
from warren.metrics.freshness import FRESHNESS_EVENTS
from warren.settings import HomeSettings
from warren_core.clocks import require_past
from warren_core.judgement.observation import check_columns, check_ranges

from warren_freshness.positions.group_positions import GroupKey, GroupPositions

RECORD_OVERHEAD = 4096  # bytes of a record besides its value; generous


class Publisher:
    """Writes warren.freshness and warren.dead-letters. Does not block its event loop."""

    def __init__(self, home: HomeSettings, clock: Clock) -> None:
        self.trouble = Trouble("home", clock)
        """Why nothing was published last."""
        self._freshness = FRESHNESS.full_name(home.topic_prefix)
        self._dead_letters = DEAD_LETTERS.full_name(home.topic_prefix)
        self._producer = EventProducer(home)
        self._one_at_a_time = asyncio.Lock()

    async def publish(self, events: Sequence[FreshnessEvent], deleted: Sequence[GroupKey]) -> None:
        """Events of groups, and tombstones of deleted ones. Raises PublishFailed."""
        async with self._one_at_a_time:
            await self._told(asyncio.to_thread(self._publish, events, deleted), events or deleted)

    async def publish_dead_letters(self, letters: Sequence[DeadLetter]) -> None:
        """Input that could not be used. Raises PublishFailed."""
        async with self._one_at_a_time:
            await self._told(asyncio.to_thread(self._publish_dead_letters, letters), letters)

    async def _told(self, publishing: Awaitable[None], what: Sequence[object]) -> None:
        try:
            await publishing
        except PublishFailed as error:
            self.trouble.tell(error)
            raise
        if what:
            self.trouble.over()

    def _publish(self, events: Sequence[FreshnessEvent], deleted: Sequence[GroupKey]) -> None:
        for event in events:
            value = event.to_bytes()
            if len(value) > MAX_MESSAGE_BYTES - RECORD_OVERHEAD:
                log.error(
                    "event too large, not published",
                    cluster=event.cluster,
                    group=event.group,
                    bytes=len(value),
                )
                continue
            self._producer.send(self._freshness, event.key, value)
        for cluster, group in deleted:
            self._producer.send(self._freshness, group_key(cluster, group), None)
        self._producer.flush()

    def _publish_dead_letters(self, letters: Sequence[DeadLetter]) -> None:
        for letter in letters:
            self._producer.send(self._dead_letters, letter.key, letter.to_bytes())
        self._producer.flush()


log = structlog.get_logger(__name__)

# What was read by then is used: an older event of a group knows less of it, but nothing wrong.
MOST_SECONDS = 60.0
SERVICE = "freshness"


def last_events(
    home: HomeSettings, clock: Clock, partitions: Collection[int]
) -> dict[int, list[FreshnessEvent]]:
    """What partitions of warren.freshness had last, by partition; deleted groups are not there.
    Blocks; raises what the home cluster refuses.
    """
    until = clock.monotonic() + MOST_SECONDS

    def is_enough() -> bool:
        if too_long := clock.monotonic() > until:
            log.warning("not all of the last figures are read", seconds=MOST_SECONDS)
        return too_long

    newest = newest_values(home, FRESHNESS, partitions, is_enough)
    return {partition: _events(values) for partition, values in newest.items()}


def _events(newest: Mapping[bytes, bytes]) -> list[FreshnessEvent]:
    """Those that this version can read."""
    events = []
    for key, value in newest.items():
        try:
            events.append(FreshnessEvent.from_record(key, value))
        except ContractViolation as problem:
            log.warning("a last figure cannot be read", problem=problem.reason)
    return events


class Intake:
    """Folds messages of warren.offsets into positions; `clusters` are those that are watched."""

    def __init__(self, positions: GroupPositions, clusters: Collection[str], clock: Clock) -> None:
        self._positions = positions
        self._clusters = clusters
        self._clock = clock
        self._foreign: set[str] = set()

    def take(self, messages: Iterable[Message]) -> list[DeadLetter]:
        """What could not be used is returned, to be published."""
        refused: list[DeadLetter] = []
        for message in messages:
            try:
                event = OffsetEvent.from_record(message.key(), message.value())
                check_ranges(event)
                require_past("observed_at", event.observed_at, self._clock.now_ms())
                check_columns(event)
            except ContractViolation as problem:
                topic, partition, offset = message.topic(), message.partition(), message.offset()
                log.warning(
                    "event refused",
                    topic=topic,
                    partition=partition,
                    offset=offset,
                    problem=problem.reason,
                )
                refused.append(
                    DeadLetter.of(
                        service=SERVICE,
                        topic=topic or "",
                        partition=-1 if partition is None else partition,
                        offset=-1 if offset is None else offset,
                        reason=problem.reason,
                        failed_at=self._clock.now_ms(),
                        key=message.key(),
                        value=message.value(),
                    )
                )
                result = "refused"
            else:
                result = self._fold(event, message)
            FRESHNESS_EVENTS.labels(result).inc()
        return refused

    def _fold(self, event: OffsetEvent, message: Message) -> str:
        if event.cluster in self._clusters:
            now = self._clock.now_ms()
            is_new = self._positions.fold(event, message.partition() or 0, now)
            return "applied" if is_new else "duplicate"
        if event.cluster not in self._foreign:
            self._foreign.add(event.cluster)
            log.warning(
                "events of a cluster that is not configured are ignored",
                cluster=event.cluster,
                setting=f"clusters.{event.cluster}",
            )
        return "foreign"
