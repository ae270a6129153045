"""Passes of a freshness measurer over a cluster, and what they cost."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from support.measuring import received_bytes, usage
from warren.clock import SystemClock
from warren.contracts import FreshnessEvent, OffsetEvent, TopicPositions
from warren.garbage import collect_seldom
from warren.settings import ClusterSettings, FreshnessSettings, RedisSettings
from warren_freshness.passes import cluster_measurer
from warren_freshness.passes.cluster_measurer import ClusterMeasurer
from warren_freshness.positions.group_positions import GroupPositions
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.record_times.cache import ENTRIES, SECONDS, LocalCache, RedisCache, TimeCache
from warren_freshness.topics.retention import Retention

CLUSTER = "bench"
# Long: on a busy machine passes would end for want of time, and there would be more of them. Those
# that the default budget of bytes needs are what is to be measured.
READ_TIMEOUT = 60.0
NO_REDIS = RedisSettings.model_validate({"url": "redis://localhost:1/0"})
Committed = Mapping[str, Sequence[int]]
"""By topic, of all its partitions."""


@dataclass(frozen=True, slots=True)
class PassCost:
    """Of all passes until each position was read: seconds, processor seconds, bytes that the
    kernel received."""

    passes: int
    seconds: float
    cpu_s: float
    received: int


class MeasuredPasses:
    """A cluster's stack as it is between two passes: connected, with nothing in its caches."""

    def __init__(self, bootstrap: str) -> None:
        collect_seldom()
        clock, settings = SystemClock(), FreshnessSettings()
        cluster_measurer.READ_SECONDS = READ_TIMEOUT
        cluster = ClusterSettings(bootstrap=bootstrap)
        self._reader = RecordReader(CLUSTER, f"clusters.{CLUSTER}", cluster, clock)
        self._retention = Retention(
            CLUSTER, self._reader.brokers, settings.retention_refresh, clock
        )
        self._redis = RedisCache(NO_REDIS, SECONDS, clock)
        self._measurer = ClusterMeasurer(
            self._reader,
            TimeCache(CLUSTER, LocalCache(ENTRIES, SECONDS, clock), self._redis),
            self._retention,
            settings,
            clock,
            stale_after=3600,
        )
        self._positions = GroupPositions()
        self._order = count()

    async def connect(self, topics: Sequence[str]) -> None:
        """Learns of leaders and retention; Redis is found to be away, and left alone."""
        await self._redis.get_many(["not there"])
        await self._reader.prepare(topics, timeout=30)
        await self._retention.refresh(topics, timeout=30)

    def commit(self, group: str, committed: Committed, log_end: int) -> None:
        """What the collector would say of a group."""
        now = SystemClock().now_ms()
        topics = {topic: _listed(offsets, log_end, now) for topic, offsets in committed.items()}
        event = OffsetEvent(
            cluster=CLUSTER,
            group=group,
            source="offsets_topic",
            observed_at=now,
            position=next(self._order),
            topics=topics,
        )
        self._positions.fold(event, home_partition=0)

    async def measure(self, check: Callable[[Sequence[FreshnessEvent]], None]) -> PassCost:
        """Passes until nothing is left unread; `check` gets the last one's events."""
        started, cpu, received = time.perf_counter(), usage().cpu_s, self.received
        passes, unread = 0, True
        events: list[FreshnessEvent] = []
        while unread:
            passes += 1
            events = []  # as in the service, nothing of the pass before is left
            events = await self._measurer.measure(self._positions.snapshots(CLUSTER, [0]))
            for event in events:
                event.to_bytes()
            unread = any("timeout" in c.reason for event in events for c in event.topics.values())
        seconds, cpu = time.perf_counter() - started, usage().cpu_s - cpu
        check(events)
        return PassCost(passes, seconds, cpu, self.received - received)

    @property
    def received(self) -> int:
        """Bytes, by the kernel's count."""
        writers = [c._writer for c in self._reader.brokers._connections.values()]
        return sum(received_bytes(writer.get_extra_info("socket")) for writer in writers)

    async def close(self) -> None:
        await self._measurer.close()


def _listed(offsets: Sequence[int], log_end: int, now: int) -> TopicPositions:
    partitions = len(offsets)
    return TopicPositions(
        partition=list(range(partitions)),
        committed=list(offsets),
        committed_at=[now] * partitions,
        commits=[1] * partitions,
        log_start=[0] * partitions,
        log_end=[log_end] * partitions,
    )
