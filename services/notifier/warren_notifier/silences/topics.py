"""`warren.silences` and `warren.acknowledgements`, read whole and followed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog
from confluent_kafka import Message
from warren.contracts.topics import ACKNOWLEDGEMENTS, SILENCES
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
    """Keeps `silences` as the topics say. An older installation does without them."""

    def __init__(
        self, home: HomeSettings, silences: Silences, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._home = home
        self._silences = silences
        self._sleep = sleep
        self._known = asyncio.Event()
        self._acknowledgements = ACKNOWLEDGEMENTS.full_name(home.topic_prefix)
        self._topics = [SILENCES.full_name(home.topic_prefix), self._acknowledgements]

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
                        self._apply(record)
                    if reader.caught_up:
                        self._known.set()
            finally:
                thread.submit(reader.close)

    def _apply(self, record: Message) -> None:
        is_acknowledgement = record.topic() == self._acknowledgements
        take = self._silences.apply_acknowledgement if is_acknowledgement else self._silences.apply
        try:
            take(record.key(), record.value())
        except ContractViolation as violation:
            log.error(
                "record refused",
                topic=record.topic(),
                partition=record.partition(),
                offset=record.offset(),
                reason=visible(violation.reason),
            )
