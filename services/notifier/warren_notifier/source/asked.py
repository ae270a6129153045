"""What people ask notifiers for: `warren.silences` and `warren.acknowledgements`, read whole and
followed, and `warren.notification-tests`, of which only what comes from now on counts.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog
from confluent_kafka import Message
from warren.contracts import NotificationTest
from warren.contracts.topics import ACKNOWLEDGEMENTS, NOTIFICATION_TESTS, SILENCES
from warren.errors import ContractViolation, TopicMissing
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings
from warren.silences import Silences
from warren.words import visible

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.2
LOOK_AGAIN_SECONDS = 30.0  # for topics that are not there


class SilenceTopics:
    """Keeps `silences` as the topics say. Where they are not there, nobody is silenced."""

    def __init__(
        self,
        home: HomeSettings,
        silences: Silences,
        on_test: Callable[[int, NotificationTest], Awaitable[None]],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """`on_test`: is given the partition and what stands there."""
        self._on_test = on_test
        self._home = home
        self._silences = silences
        self._sleep = sleep
        self._known = asyncio.Event()
        self._acknowledgements = ACKNOWLEDGEMENTS.full_name(home.topic_prefix)
        self._tests = NOTIFICATION_TESTS.full_name(home.topic_prefix)
        self._topics = [
            SILENCES.full_name(home.topic_prefix),
            self._acknowledgements,
            self._tests,
        ]

    async def known(self, stop: asyncio.Event) -> None:
        """Returns when all that was there has been read: nothing is to be told before. Or when the
        service is to stop.
        """
        waits = [asyncio.create_task(event.wait()) for event in (self._known, stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def follow(self) -> None:
        """Until cancelled. Raises what a TopicReader raises, but for a topic that is missing."""
        while True:
            try:
                await self._follow()
            except TopicMissing as missing:
                log.warning("no silences: their topics are not there", problem=str(missing))
                self._known.set()
                await self._sleep(LOOK_AGAIN_SECONDS)

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, thread_name_prefix="silences") as thread:
            open_reader = partial(TopicReader, HOME, HOME, self._home, self._topics)
            reader = await loop.run_in_executor(thread, open_reader)
            try:
                while True:
                    records = await loop.run_in_executor(thread, reader.poll, POLL_SECONDS)
                    for record in records:
                        await self._take(record)
                    if reader.caught_up:
                        self._known.set()
            finally:
                thread.submit(reader.close)

    async def _take(self, record: Message) -> None:
        try:
            if record.topic() == self._tests:
                if self._known.is_set():
                    test = NotificationTest.from_bytes(record.value())
                    await self._on_test(record.partition() or 0, test)
            elif record.topic() == self._acknowledgements:
                self._silences.apply_acknowledgement(record.key(), record.value())
            else:
                self._silences.apply(record.key(), record.value())
        except ContractViolation as violation:
            log.error(
                "record refused",
                topic=record.topic(),
                partition=record.partition(),
                offset=record.offset(),
                reason=visible(violation.reason),
            )
