"""Warren's topics, read in a thread beside the loop: what people ask notifiers for, and the state.

`warren.silences` and `warren.acknowledgements` are read whole and followed; of
`warren.notification-tests` only what comes from now on counts; `warren.notifier-state` is read back
when partitions are assigned.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial

import structlog
from confluent_kafka import Message
from warren.contracts import NotificationTest, NotifierState
from warren.contracts.topics import ACKNOWLEDGEMENTS, NOTIFICATION_TESTS, NOTIFIER_STATE, SILENCES
from warren.errors import ContractViolation, TopicMissing
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings
from warren.silences import Silences
from warren.words import visible

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.2
LOOK_AGAIN_SECONDS = 30.0  # for topics that are not there

Poll = Callable[[], Awaitable[tuple[list[Message], bool]]]
"""Records that have come since, and whether all that was there at the beginning has been read."""


@asynccontextmanager
async def reading(
    home: HomeSettings, topics: Sequence[str], since: int | None = None
) -> AsyncIterator[Poll]:
    """Raises what a TopicReader raises. `since`: Unix milliseconds; None: from the beginning."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="topics") as thread:
        open_reader = partial(TopicReader, HOME, HOME, home, topics, since=since)
        reader = await loop.run_in_executor(thread, open_reader)

        async def poll() -> tuple[list[Message], bool]:
            records = await loop.run_in_executor(thread, reader.poll, POLL_SECONDS)
            return records, reader.caught_up

        try:
            yield poll
        finally:
            thread.submit(reader.close)


class SilenceTopics:
    """Keeps `silences` as the topics say. Where they are not there, nobody is silenced."""

    def __init__(
        self,
        home: HomeSettings,
        silences: Silences,
        on_test: Callable[[int, NotificationTest], Awaitable[None]],
    ) -> None:
        """`on_test`: is given the partition and what stands there."""
        self._home = home
        self._silences = silences
        self._on_test = on_test
        self._known = asyncio.Event()
        self._topics = [
            topic.full_name(home.topic_prefix)
            for topic in (SILENCES, ACKNOWLEDGEMENTS, NOTIFICATION_TESTS)
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
                async with reading(self._home, self._topics) as poll:
                    while True:
                        records, all_read = await poll()
                        for record in records:
                            await self._take(record)
                        if all_read:
                            self._known.set()
            except TopicMissing as missing:
                log.warning("no silences: their topics are not there", problem=str(missing))
                self._known.set()
                await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _take(self, record: Message) -> None:
        _, acknowledgements, tests = self._topics
        try:
            if record.topic() == tests:
                if self._known.is_set():
                    test = NotificationTest.from_bytes(record.value())
                    await self._on_test(record.partition() or 0, test)
            elif record.topic() == acknowledgements:
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


def read_states(home: HomeSettings, partitions: Collection[int]) -> dict[int, list[NotifierState]]:
    """States by partition, oldest first: the newest record per key counts, a tombstone removes it.

    Raises TopicMissing, ClusterUnreachable, AuthenticationFailed or AuthorizationFailed.
    """
    newest: dict[tuple[int, bytes], bytes] = {}
    topic = NOTIFIER_STATE.full_name(home.topic_prefix)
    reader = TopicReader(HOME, HOME, home, [topic], partitions=partitions)
    try:
        while not reader.caught_up:
            for message in reader.poll(POLL_SECONDS):
                key, value = (message.partition() or 0, message.key() or b""), message.value()
                newest.pop(key, None)
                if value is not None:
                    newest[key] = value
    finally:
        reader.close()
    found: dict[int, list[NotifierState]] = {number: [] for number in partitions}
    for (partition, _), value in newest.items():
        try:
            found[partition].append(NotifierState.from_bytes(value))
        except ContractViolation as violation:  # of no notifier's making: named, and left alone
            log.error("state refused", partition=partition, reason=violation.reason)
    return found
