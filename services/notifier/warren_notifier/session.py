"""One session with the home cluster: from joining the consumer group to leaving it.

When the home cluster does not acknowledge, the session ends with an error; the next one rebuilds
everything from the topics. One asyncio loop decides and delivers; the consumer, the journal and
name look-ups have threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

import structlog
from warren.clock import Clock
from warren.contracts.topics import LAG_STATUS
from warren.kafka.batched_writer import Journal
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME
from warren.metrics import notifier as metrics
from warren.settings import HomeSettings
from warren.settings.notifier import NotifierSettings

from warren_notifier.delivery.channel_worker import Attempts, Channel, Sleep
from warren_notifier.delivery.group_queues import Lanes
from warren_notifier.delivery.outcome_recorder import Books
from warren_notifier.delivery.retry_plan import RetryPlan
from warren_notifier.dispatcher import Notifier
from warren_notifier.routing.decisions import Desk
from warren_notifier.routing.routes import Route
from warren_notifier.source.consumer import Source
from warren_notifier.state.owned_state import Ledger
from warren_notifier.state.state_topic import StateTopic

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.5
TICK_SECONDS = 1.0
GRACE_SECONDS = 5.0

P = ParamSpec("P")
T = TypeVar("T")


class Session:
    """Runs until `stop` is set. Raises an ExceptionGroup of what went wrong."""

    def __init__(
        self,
        home: HomeSettings,
        settings: NotifierSettings,
        channels: Mapping[str, Channel],
        plan: RetryPlan,
        clock: Clock,
        stop: asyncio.Event,
        on_ready: Callable[[], None],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._home = home
        self._settings = settings
        self._channels = channels
        self._clock = clock
        self._stop = stop
        self._on_ready = on_ready
        self._sleep = sleep
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="source")
        self._ledger = Ledger()
        # A record that is late must not overwrite what the next owner of its partition has written.
        in_time = settings.session_timeout * 0.8
        self._journal = Journal(EventProducer(HOME, HOME, home, delivery_timeout=in_time))
        self._books = Books(self._ledger, self._journal, home.topic_prefix, clock)
        self._attempts = {
            name: Attempts(name, channel, plan, self._books, clock, sleep)
            for name, channel in channels.items()
        }
        self._lanes: dict[str, Lanes] = {}

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                self._lanes = {
                    name: Lanes(tasks, attempts.step) for name, attempts in self._attempts.items()
                }
                notifier = Notifier(
                    Desk(
                        [Route(route) for route in self._settings.routes],
                        round(self._settings.deadline * 1000),
                    ),
                    self._ledger,
                    self._books,
                    self._journal,
                    self._lanes,
                    self._settings.queue_size,
                    self._clock,
                )
                helpers = [
                    tasks.create_task(self._journal.run()),
                    tasks.create_task(self._tick(notifier)),
                ]
                async with self._joined(notifier) as source:
                    await self._consume(source, notifier)
                for helper in helpers:
                    helper.cancel()
        finally:
            self._journal.close()
            self._thread.shutdown(wait=True)
            self._show()

    @contextlib.asynccontextmanager
    async def _joined(self, notifier: Notifier) -> AsyncIterator[Source]:
        loop = asyncio.get_running_loop()

        def on_leave(partitions: Collection[int]) -> None:
            leaving = notifier.leave(partitions, GRACE_SECONDS)
            asyncio.run_coroutine_threadsafe(leaving, loop).result()
            log.info("partitions left", partitions=sorted(partitions))

        source = await self._in_thread(
            Source,
            self._home,
            self._settings.group_id,
            LAG_STATUS.full_name(self._home.topic_prefix),
            self._settings.session_timeout,
            on_leave,
        )
        try:
            yield source
        finally:
            await self._in_thread(source.close)

    async def _consume(self, source: Source, notifier: Notifier) -> None:
        states = StateTopic(self._home)
        while not self._stop.is_set():
            poll = await self._in_thread(source.poll, POLL_SECONDS)
            if poll.taken:
                found = await self._in_thread(states.read, poll.taken.keys())
                for partition, extent in poll.taken.items():
                    await notifier.take_up(partition, found[partition], extent)
                log.info("partitions taken up", partitions=sorted(poll.taken))
            if source.assigned:
                self._on_ready()
            positions = await notifier.accept(poll.records)
            if await self._in_thread(source.commit, positions):
                notifier.committed(positions)

    async def _tick(self, notifier: Notifier) -> None:
        while True:
            await notifier.repeat()
            await notifier.settle()
            self._show()
            await self._sleep(TICK_SECONDS)

    def _show(self) -> None:
        """Gauges, from what is pending now."""
        oldest: dict[str, int] = {}
        count = dict.fromkeys(self._channels, 0)
        accounts = list(self._ledger.accounts())
        for delivery in (entry.delivery for account in accounts for entry in account.entries):
            count[delivery.channel] = count.get(delivery.channel, 0) + 1
            known = oldest.get(delivery.channel, delivery.accepted_at)
            oldest[delivery.channel] = min(known, delivery.accepted_at)
        now = self._clock.now_ms()
        for channel, pending in count.items():
            age = (now - oldest[channel]) / 1000 if channel in oldest else 0
            metrics.NOTIFIER_PENDING.labels(channel).set(pending)
            metrics.NOTIFIER_OLDEST_PENDING.labels(channel).set(max(age, 0))
        metrics.NOTIFIER_OPEN_INCIDENTS.set(
            sum(account.incident is not None for account in accounts)
        )
        metrics.NOTIFIER_PARTITIONS.set(len(self._ledger.partitions))

    async def _in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        work = functools.partial(call, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
