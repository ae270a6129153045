"""One cluster's passes in this process, fed by hand."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from itertools import count
from typing import TypeVar

from freshness.events import CLUSTER, GROUP, At, offset_event
from freshness.timed_logs import TimedLogs
from support.manual_clock import ManualClock
from warren.contracts import FreshnessEvent, TopicFreshness
from warren.settings import ClusterSettings, FreshnessSettings, RedisSettings
from warren_freshness.passes.cluster_measurer import ClusterMeasurer
from warren_freshness.positions.group_positions import GroupPositions
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.record_times.cache import ENTRIES, SECONDS, LocalCache, RedisCache, TimeCache
from warren_freshness.topics.retention import Retention

STALE_AFTER = 90.0
Result = TypeVar("Result")


class MeasuredCluster:
    """A ClusterMeasurer on a clock that stands still, so that every figure is known exactly."""

    def __init__(
        self,
        logs: TimedLogs,
        clock: ManualClock,
        redis_url: str,
        settings: FreshnessSettings | None = None,
        cluster: ClusterSettings | None = None,
    ) -> None:
        self.clock = clock
        self._logs = logs
        self._positions = GroupPositions()
        self._order = count()
        self._runner = asyncio.Runner()
        settings = settings or FreshnessSettings()
        reader = RecordReader(
            CLUSTER,
            f"clusters.{CLUSTER}",
            cluster or ClusterSettings(bootstrap=logs.bootstrap),
            clock,
        )
        redis = RedisSettings.model_validate({"url": redis_url})
        self._redis = RedisCache(redis, SECONDS, clock)
        self.measurer = ClusterMeasurer(
            reader,
            TimeCache(CLUSTER, LocalCache(ENTRIES, SECONDS, clock), self._redis),
            Retention(CLUSTER, reader.brokers, settings.retention_refresh, clock),
            settings,
            clock,
            STALE_AFTER,
        )

    def commit(
        self,
        topic: str,
        committed: Sequence[int],
        *,
        group: str = GROUP,
        ends: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        """An offset event: the group's position in each partition, and the logs as they are (or as
        `ends` says)."""
        now = self.clock.now_ms()
        places = []
        for partition, offset in enumerate(committed):
            known = (ends or {}).get(partition) or self._logs.range(topic, partition)
            places.append(At(offset, known[1], known[0], committed_at=now))
        event = offset_event(
            {topic: places}, group=group, observed_at=now, position=next(self._order)
        )
        self._positions.fold(event, home_partition=0)

    def measure(self) -> dict[str, FreshnessEvent]:
        """A pass over all groups, by group."""
        groups = self._positions.snapshots(CLUSTER, [0])
        return {event.group: event for event in self.run(self.measurer.measure(groups))}

    def measure_one(self, topic: str, committed: Sequence[int]) -> FreshnessEvent:
        """The event of a group that has just committed."""
        self.commit(topic, committed)
        return self.measure()[GROUP]

    def run(self, work: Coroutine[object, object, Result]) -> Result:
        return self._runner.run(work)

    def close(self) -> None:
        self.run(self.measurer.close())
        self.run(self._redis.close())
        self._runner.close()


def columns(event: FreshnessEvent) -> TopicFreshness:
    """Of the event's only topic."""
    (found,) = event.topics.values()
    return found
