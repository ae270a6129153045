"""The service: offset events come in, each cluster has its own passes, figures go out."""

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

import structlog
from confluent_kafka.admin import AdminClient
from warren.clock import Clock, SystemClock
from warren.contracts import DeadLetter, FreshnessEvent
from warren.errors import ClusterUnreachable, KafkaError, PublishFailed, SettingsError
from warren.garbage import collect_seldom
from warren.kafka.connection import Trouble, log_retry
from warren.kafka.topics import HOME, await_home, ensure_topics
from warren.metrics.freshness import FRESHNESS, FRESHNESS_STALLED
from warren.probe import Ready
from warren.service import probed, stop_by_signal
from warren.settings import Settings
from warren.standstill import Look, Looking, StandstillWatch, Turns, in_parts

from warren_freshness.home.offsets_feed import OffsetsFeed
from warren_freshness.home.topics import Intake, Publisher, last_events
from warren_freshness.passes.cluster_measurer import ClusterMeasurer
from warren_freshness.passes.pass_loop import PassLoop
from warren_freshness.positions.group_positions import GroupPositions
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.record_times.cache import ENTRIES, SECONDS, LocalCache, RedisCache, TimeCache
from warren_freshness.topics.retention import Retention

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.2
RETRY_SECONDS = 2.0  # after a refusal
STOP_SECONDS = 10.0


class FreshnessService:
    """Everything between warren.offsets and warren.freshness. For one event loop."""

    def __init__(
        self,
        feed: OffsetsFeed,
        intake: Intake,
        positions: GroupPositions,
        publisher: Publisher,
        pass_loops: Sequence[PassLoop],
        redis: RedisCache,
        last_events: Callable[[Collection[int]], dict[int, list[FreshnessEvent]]],
        interval: float,
        clock: Clock,
    ) -> None:
        self._feed = feed
        self._intake = intake
        self._positions = positions
        self._publisher = publisher
        self._pass_loops = pass_loops
        self._redis = redis
        self._last_events = last_events
        self._interval = interval
        self._recalled: set[int] = set()
        self._caught_up = asyncio.Event()
        self._turns = Turns()
        self._refused = Trouble(HOME, clock, over="offsets are read again")

    @property
    def is_ready(self) -> bool:
        """Every cluster has had a published pass over all groups that are known."""
        return all(loop.used is not None for loop in self._pass_loops)

    @property
    def waits_for(self) -> str:
        """What keeps it from being ready, as far as that is known; empty: it is starting."""
        looks = (self._refused.look(), self._publisher.trouble.look())
        return "; ".join(look.obstacle for look in looks if look.obstacle)

    @property
    def works(self) -> dict[str, Looking]:
        """What must not stand still, by name. One cluster that cannot be measured leaves the
        others alone.
        """
        return {
            "feed": self._turns.look,
            "intake": self._look_at_intake,
            **{f"pass over {loop.cluster}": loop.turns.look for loop in self._pass_loops},
            "measuring": lambda: in_parts(
                loop.look() for loop in self._pass_loops if loop.has_groups
            ),
            "publishing": self._publisher.trouble.look,
        }

    def _look_at_intake(self) -> Look:
        """A refusal says more than what waits because of it, dead letters among it."""
        for trouble in (self._refused, self._publisher.trouble):
            if trouble.problem:
                return trouble.look()
        return self._feed.look()

    async def run(self, stop: asyncio.Event) -> None:
        """Works until `stop` is set; what the home cluster refuses is waited for."""
        tasks = [asyncio.create_task(self._follow(stop))]
        tasks += [asyncio.create_task(self._pass(loop, stop)) for loop in self._pass_loops]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.set()
            self._caught_up.set()
            _, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*(loop.close() for loop in self._pass_loops))
            await self._redis.close()
            await asyncio.to_thread(self._feed.close, self._used())
        for task in tasks:
            if task.done():
                task.result()

    async def _pass(self, loop: PassLoop, stop: asyncio.Event) -> None:
        await self._caught_up.wait()
        await loop.run(self._interval, stop)

    async def _follow(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self._turns.begin()
            try:
                polled = await asyncio.to_thread(self._feed.poll, POLL_SECONDS, self._used())
            except KafkaError as refusal:
                self._refused.tell(refusal)
                await self._pause(stop)
                continue
            if polled.revoked:
                self._recalled -= set(polled.revoked)
                self._positions.release(polled.revoked)
                for loop in self._pass_loops:
                    loop.release(polled.revoked)
            if polled.has_joined:
                self._refused.over()
            is_safe = await self._dead_letter(self._intake.take(polled.messages), stop)
            if await self._recall(polled.current) and is_safe:
                self._positions.folded = polled.current
                if polled.is_caught_up:
                    self._caught_up.set()

    async def _pause(self, stop: asyncio.Event) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), RETRY_SECONDS)

    async def _recall(self, home_partitions: Collection[int]) -> bool:
        """Before groups are measured for the first time: since when they are late. False when the
        home cluster does not answer now."""
        new = set(home_partitions) - self._recalled
        if not new:
            return True
        try:
            events = await asyncio.to_thread(self._last_events, new)
        except ClusterUnreachable as error:
            log_retry(error)
            return False
        except KafkaError as error:  # refused: what retention took before this start is not known
            log_retry(error)
            events = {}
        for partition, last in events.items():
            for loop in self._pass_loops:
                loop.recall(partition, last)
        self._recalled |= new
        return True

    async def _dead_letter(self, letters: Sequence[DeadLetter], stop: asyncio.Event) -> bool:
        """Nothing goes on before what was refused is safe. False when there was no time for it."""
        while letters and not stop.is_set():
            try:
                await self._publisher.publish_dead_letters(letters)
                return True
            except PublishFailed:  # the publisher has told it
                self._turns.begin()
                await self._pause(stop)
        return not letters

    def _used(self) -> dict[int, int]:
        return used_by_all([loop.used for loop in self._pass_loops])


def used_by_all(used: Sequence[Mapping[int, int] | None]) -> dict[int, int]:
    """By home partition, the offset up to which all clusters have published (None: nothing yet)."""
    known = [offsets for offsets in used if offsets is not None]
    if not known or len(known) < len(used):
        return {}
    shared = set.intersection(*(set(offsets) for offsets in known))
    return {partition: min(offsets[partition] for offsets in known) for partition in shared}


# Heartbeats without an event of a group, after which its positions say nothing about now.
STALE_HEARTBEATS = 3


def run(settings: Settings) -> None:
    """Runs until SIGTERM or SIGINT. Raises SettingsError."""
    if not settings.clusters:
        raise SettingsError("clusters", "no cluster is configured; add a [clusters.<name>] table")
    asyncio.run(_run(settings))


async def _run(settings: Settings) -> None:
    stop, stop_connecting = asyncio.Event(), threading.Event()

    def end() -> None:
        stop.set()
        stop_connecting.set()

    stop_by_signal(partial(asyncio.get_running_loop().call_soon_threadsafe, end))
    clock = SystemClock()
    preparing = Trouble(HOME, clock, over="the home cluster is as it should be")
    readiness: list[Ready] = [lambda: preparing.look().obstacle]
    with probed("freshness", settings, FRESHNESS, lambda: readiness[-1]()):
        is_there = await asyncio.to_thread(
            await_home, settings.home, partial(_prepare, settings), stop_connecting, preparing
        )
        if is_there:
            collect_seldom()
            service = build_service(settings, clock)
            watch = StandstillWatch(settings.standstill, service.works, FRESHNESS_STALLED, clock)
            readiness.append(lambda: watch.reason or service.is_ready or service.waits_for)
            log.info("started", clusters=sorted(settings.clusters))
            with watch:
                await service.run(stop)
    log.info("stopped")


def _prepare(settings: Settings, admin: AdminClient) -> bool:
    if settings.home.create_topics:
        ensure_topics(admin, settings.home)
    return True


def build_service(settings: Settings, clock: Clock) -> FreshnessService:
    """The service on its topics, which exist. Raises SettingsError."""
    redis = RedisCache(settings.redis, SECONDS, clock)
    clusters = {name: _cluster_measurer(name, settings, redis, clock) for name in settings.clusters}
    positions, publisher = GroupPositions(), Publisher(settings.home, clock)
    return FreshnessService(
        OffsetsFeed(settings, clock),
        Intake(positions, clusters, clock),
        positions,
        publisher,
        [
            PassLoop(name, measurer, positions, publisher, clock)
            for name, measurer in clusters.items()
        ],
        redis,
        partial(last_events, settings.home, clock),
        settings.freshness.interval,
        clock,
    )


def _cluster_measurer(
    name: str, settings: Settings, redis: RedisCache, clock: Clock
) -> ClusterMeasurer:
    """One cluster's own stack; only Redis is shared."""
    freshness = settings.freshness
    reader = RecordReader(name, f"clusters.{name}", settings.clusters[name], clock)
    return ClusterMeasurer(
        reader,
        TimeCache(
            name,
            LocalCache(ENTRIES, SECONDS, clock),
            redis,
            settings.home.installation,
        ),
        Retention(name, reader.brokers, freshness.retention_refresh, clock),
        freshness,
        clock,
        stale_after=settings.collector.heartbeat * STALE_HEARTBEATS,
    )
