"""Putting the service together and running it until a signal comes."""

import asyncio
import threading
from functools import partial

import structlog
from confluent_kafka.admin import AdminClient
from warren.clock import Clock, SystemClock
from warren.errors import SettingsError
from warren.garbage import collect_seldom
from warren.kafka.topics import HOME, await_home, ensure_topics
from warren.kafka.trouble import Trouble
from warren.metrics.freshness import FRESHNESS, FRESHNESS_STALLED
from warren.probe import Ready
from warren.service import probed, stop_by_signal
from warren.settings import Settings
from warren.standstill import StandstillWatch

from warren_freshness.home.offsets_feed import OffsetsFeed
from warren_freshness.home.topics import Intake, LastEvents, Publisher
from warren_freshness.passes.cluster_measurer import ClusterMeasurer
from warren_freshness.passes.pass_loop import PassLoop
from warren_freshness.positions.group_positions import GroupPositions
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.record_times.cache import ENTRIES, SECONDS, LocalCache, RedisCache, TimeCache
from warren_freshness.service import FreshnessService
from warren_freshness.topics.retention import Retention

log = structlog.get_logger(__name__)

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
        LastEvents(settings.home, clock),
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
