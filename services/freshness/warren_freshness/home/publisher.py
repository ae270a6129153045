"""Publishing of what was measured and of what could not be used: acknowledged, or an error."""

import asyncio
from collections.abc import Awaitable, Sequence

import structlog
from warren.clock import Clock
from warren.contracts import DeadLetter, FreshnessEvent, group_key
from warren.contracts.topics import DEAD_LETTERS, FRESHNESS, MAX_MESSAGE_BYTES
from warren.errors import PublishFailed
from warren.kafka.producer import EventProducer
from warren.kafka.trouble import Trouble
from warren.settings import HomeSettings

from warren_freshness.positions.group_positions import GroupKey

log = structlog.get_logger(__name__)

RECORD_OVERHEAD = 4096  # bytes of a record besides its value; generous


class Publisher:
    """Writes warren.freshness and warren.dead-letters. Does not block its event loop."""

    def __init__(self, home: HomeSettings, clock: Clock) -> None:
        self.trouble = Trouble("home", clock)
        """Why nothing was published last."""
        self._freshness = FRESHNESS.full_name(home.topic_prefix)
        self._dead_letters = DEAD_LETTERS.full_name(home.topic_prefix)
        self._producer = EventProducer("home", "home", home)
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
            self._producer.send(self._freshness, group_key(event.cluster, event.group), value)
        for cluster, group in deleted:
            self._producer.send(self._freshness, group_key(cluster, group), None)
        self._producer.flush()

    def _publish_dead_letters(self, letters: Sequence[DeadLetter]) -> None:
        for letter in letters:
            self._producer.send(self._dead_letters, letter.key, letter.to_bytes())
        self._producer.flush()
