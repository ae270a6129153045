"""One session with the home cluster: from joining the consumer group to leaving it.

When the home cluster does not acknowledge, the session ends with an error; the next one rebuilds
everything from the topics. One asyncio loop decides and delivers; the consumer, the writer and
name look-ups have threads.
"""

import asyncio
import contextlib
import functools
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar, get_args

import structlog
from warren.clock import Clock
from warren.contracts import DeliveryOutcome, DigestKey
from warren.contracts.topics import INCIDENTS
from warren.kafka.batched_writer import BatchedWriter
from warren.kafka.producer import EventProducer
from warren.metrics import notifier as metrics
from warren.redaction import Redaction
from warren.settings import Settings
from warren.silences import Silences
from warren.standstill import Turns
from warren_core.objectives.limits import ObjectiveBook

from warren_notifier.channels.channel import (
    Channel,
)
from warren_notifier.delivery.attempts import RetryPlan, Shared
from warren_notifier.delivery.outcomes import Outcomes, Records
from warren_notifier.delivery.slots import RateLimit
from warren_notifier.delivery.worker import Worker
from warren_notifier.dispatcher import Dispatcher
from warren_notifier.due import Due
from warren_notifier.lease import Lease, LeasedProducer
from warren_notifier.outbox import Outbox
from warren_notifier.owned import OwnedSubjects
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.holds import Holds
from warren_notifier.routing.routes import Grouping, Route
from warren_notifier.source.consumer import Positions, StatusConsumer
from warren_notifier.source.topics import Groups, Newest, NewestTopics, SilenceTopics, read_states
from warren_notifier.state.telling import Delivery

PART = 200  # states between two turns of everything else
SHARE = 50  # of so many seconds one is spent on looking at all states


class Gauges:
    """Of one session."""

    def __init__(self, channels: Iterable[str], outcomes: Outcomes) -> None:
        self._channels = list(channels)
        self._outcomes, self._clock = outcomes, outcomes.clock
        self._not_before = 0.0

    async def show(self) -> None:
        """In parts; not again at once where that takes long."""
        started = self._clock.monotonic()
        if started < self._not_before:
            return
        for _ in self.look():
            await asyncio.sleep(0)
        now = self._clock.monotonic()
        self._not_before = now + SHARE * (now - started)

    def look(self) -> Iterator[None]:
        """Part by part; what was seen is shown at the end."""
        due: dict[str, list[int]] = {channel: [] for channel in self._channels}
        silenced = Counter(dict.fromkeys(self._channels, 0))
        states = size = opened = 0
        for states, owned in enumerate(self._outcomes.owned.all(), 1):
            size += owned.stored_bytes
            opened += owned.state.incident is not None
            for telling in owned.state.tellings.values():
                if telling.is_held:
                    silenced[telling.notified.channel] += 1
                elif telling.delivery is not None:
                    due.setdefault(telling.notified.channel, []).append(
                        self._due(telling.delivery, telling.notified.digest)
                    )
            if states % PART == 0:
                yield
        now = self._clock.now_ms()
        for channel, times in due.items():
            age = (now - min(times, default=now)) / 1000
            metrics.NOTIFIER_PENDING.labels(channel).set(len(times))
            metrics.NOTIFIER_OLDEST_PENDING.labels(channel).set(max(age, 0))
        for channel, count in silenced.items():
            metrics.NOTIFIER_SILENCED.labels(channel).set(count)
        metrics.NOTIFIER_OPEN_INCIDENTS.set(opened)
        metrics.NOTIFIER_STATES.set(states)
        metrics.NOTIFIER_STATE_BYTES.set(size)
        metrics.NOTIFIER_PARTITIONS.set(len(self._outcomes.owned.partitions))

    def _due(self, delivery: Delivery, key: DigestKey | None) -> int:
        """From when on a delivery is late; one that is told with others waits for them."""
        pending = delivery.pending
        due = pending.accepted_at if pending.attempts else pending.next_attempt_at
        return due if key is None else due + self._outcomes.router.grouping.interval_ms(key)


log = structlog.get_logger(__name__)

POLL_SECONDS = 0.5
TICK_SECONDS = 1.0
GRACE_SECONDS = 5.0

FIRST_RETRY, LONGEST_RETRY = 2.0, 60.0
"""Seconds between two attempts; they double from the first to the longest."""
QUEUE_SIZE = 10_000
"""Groups that a channel works on at most; others wait."""
SESSION_TIMEOUT = 10.0
"""Seconds after which a dead notifier's work goes to another."""

P = ParamSpec("P")
T = TypeVar("T")


class Session:
    """Runs until `stop` is set. Raises an ExceptionGroup of what went wrong."""

    def __init__(
        self,
        settings: Settings,
        channels: Mapping[str, Channel],
        clock: Clock,
        stop: asyncio.Event,
        on_ready: Callable[[], None],
        redaction: Redaction,
        turns: Turns,
    ) -> None:
        self._book = ObjectiveBook(settings.objectives, settings.groups)
        self._servers = {name: each.bootstrap for name, each in settings.clusters.items()}
        self._home, self._settings = settings.home, settings.notifier
        self._turns = turns
        self._channels = channels
        self._stop = stop
        self._on_ready = on_ready
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="source")
        self._positions = Positions()
        self._silences = Silences(self._book.owner_of)
        # A record that is late must not overwrite what the next owner of its partition has written.
        in_time = SESSION_TIMEOUT * 0.8
        self._lease = Lease(SESSION_TIMEOUT)
        producer = EventProducer(self._home, delivery_timeout=in_time)
        router = self._router()
        self._outcomes = Outcomes(
            OwnedSubjects(),
            Records(self._home.topic_prefix),
            BatchedWriter(LeasedProducer(producer, self._lease)),
            router,
            Holds(self._silences, router.routes, router.resends),
            redaction,
            clock,
        )
        self._gauges = Gauges(channels, self._outcomes)
        for channel in channels:  # from 0 on: no increase is seen of a series that begins at 1
            for outcome in get_args(DeliveryOutcome):
                metrics.NOTIFIER_DELIVERIES.labels(channel, outcome)

    async def run(self) -> None:
        try:
            with self._lease.watched():
                await self._run()
        finally:
            self._turns.end()
            self._outcomes.writer.close()
            self._thread.shutdown(wait=True)
            for _ in self._gauges.look():
                pass

    async def _run(self) -> None:
        outcomes, clock = self._outcomes, self._outcomes.clock
        async with asyncio.TaskGroup() as tasks:
            newest = Newest(outcomes.owned.is_open)
            about = (self._book.limits_for, self._servers)
            groups = Groups(newest, self._silences, clock.now_ms, *about)
            figures = NewestTopics(self._home, newest, clock)
            shared = Shared(
                tasks,
                RetryPlan(FIRST_RETRY, LONGEST_RETRY, random.random),
                outcomes,
                asyncio.sleep,
                QUEUE_SIZE,
                self._lease.check,
                {
                    name: RateLimit(channel.rate, clock, asyncio.sleep)
                    for name, channel in self._settings.channels.items()
                    if channel.rate
                },
                groups.standing,
                figures.known,
            )
            workers = {name: Worker(name, one, shared) for name, one in self._channels.items()}
            outbox = Outbox(outcomes, workers)
            dispatcher = Dispatcher(outbox)
            asked = SilenceTopics(self._home, self._silences, dispatcher.test)
            helpers = [
                tasks.create_task(figures.follow()),
                tasks.create_task(outcomes.writer.run()),
                tasks.create_task(self._tick(Due(outbox))),
                tasks.create_task(asked.follow()),
            ]
            await asked.known(self._stop)
            async with self._joined(dispatcher) as consumer:
                await self._consume(consumer, dispatcher, figures)
            for helper in helpers:
                helper.cancel()

    def _router(self) -> Router:
        routes, channels = [Route(route) for route in self._settings.routes], self._channels
        return Router(
            routes,
            round(self._settings.deadline * 1000),
            {name: channel.identity for name, channel in channels.items()},
            Grouping(routes, {name for name, channel in channels.items() if channel.tells_many}),
            self._settings.flap_openings,
            round(self._settings.flap_window * 1000),
            {name: one.resend_ms for name, one in channels.items() if one.resend_ms},
            {name for name, one in channels.items() if one.takes_acknowledgements},
        )

    @contextlib.asynccontextmanager
    async def _joined(self, dispatcher: Dispatcher) -> AsyncIterator[StatusConsumer]:
        loop = asyncio.get_running_loop()

        def on_revoke(partitions: Collection[int]) -> None:
            self._positions.revoked(partitions)
            revoking = dispatcher.revoke(partitions, GRACE_SECONDS)
            asyncio.run_coroutine_threadsafe(revoking, loop).result()
            log.info("partitions left", partitions=sorted(partitions))

        consumer = await self._in_thread(
            StatusConsumer,
            self._home,
            self._home.installation.group("notifier", self._settings.group_id),
            INCIDENTS.full_name(self._home.topic_prefix),
            SESSION_TIMEOUT,
            on_revoke,
        )
        try:
            yield consumer
        finally:
            await self._in_thread(consumer.close)

    async def _consume(
        self, consumer: StatusConsumer, dispatcher: Dispatcher, figures: NewestTopics
    ) -> None:
        while not self._stop.is_set():
            self._turns.begin()
            poll = await self._in_thread(consumer.poll, POLL_SECONDS)
            if poll.assigned:
                stored = await self._in_thread(read_states, self._home, poll.assigned.keys())
                with figures.assigning():
                    for partition, start in poll.assigned.items():
                        await dispatcher.assign(partition, stored[partition], start)
                log.info("partitions taken up", partitions=sorted(poll.assigned))
            if consumer.has_assignment:
                self._on_ready()
            self._positions.take(await dispatcher.accept(poll.records))
            self._positions.take(await dispatcher.pass_over(poll.read_to))
            committed = await self._in_thread(consumer.commit, self._positions.due)
            self._positions.committed(committed)
            dispatcher.committed(committed)

    async def _tick(self, due: Due) -> None:
        while True:
            self._lease.check()
            await due.tick()
            await self._gauges.show()
            await asyncio.sleep(TICK_SECONDS)

    async def _in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        work = functools.partial(call, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
