"""One monitored cluster's passes, every interval, whatever happens to other clusters."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import get_args

import structlog
from warren.clock import Clock
from warren.contracts import FreshnessEvent, FreshnessReason
from warren.errors import PublishFailed
from warren.metrics.freshness import (
    FRESHNESS_PARTITIONS,
    FRESHNESS_PASS_SECONDS,
    FRESHNESS_PASSES,
)
from warren.standstill import Look, Turns, obstacle

from warren_freshness.home.topics import Publisher
from warren_freshness.passes.cluster_measurer import ClusterMeasurer
from warren_freshness.positions.group_positions import GroupPositions, GroupSnapshot

log = structlog.get_logger(__name__)


class PassLoop:
    """Measures and publishes. `used`: by home partition, the offsets whose events were."""

    def __init__(
        self,
        cluster: str,
        measurer: ClusterMeasurer,
        positions: GroupPositions,
        publisher: Publisher,
        clock: Clock,
    ) -> None:
        self.used: Mapping[int, int] | None = None
        self.turns = Turns()
        self.has_groups = False
        """Whether the last pass was over any."""
        self._fault = ""
        self.cluster = self._cluster = cluster
        self._measurer = measurer
        self._positions = positions
        self._publisher = publisher
        self._clock = clock

    async def run(self, interval: float, stop: asyncio.Event) -> None:
        """A pass every `interval` seconds until `stop` is set."""
        while not stop.is_set():
            started = self._clock.monotonic()
            self.turns.begin()
            result = await self._try()
            self.turns.end()
            took = self._clock.monotonic() - started
            FRESHNESS_PASSES.labels(self._cluster, result).inc()
            FRESHNESS_PASS_SECONDS.labels(self._cluster).observe(took)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), max(interval - took, 0))

    def look(self) -> Look:
        """Look at the measuring: whether the last pass could measure anything of what waits."""
        return obstacle(self._fault or self._measurer.obstacle)

    def recall(self, home_partition: int, events: Iterable[FreshnessEvent]) -> None:
        """Goes on from what was published last of the groups of a home partition."""
        own = [event for event in events if event.cluster == self._cluster]
        self._measurer.recall(home_partition, own)

    def release(self, home_partitions: Collection[int]) -> None:
        """Another instance says from now on what is used of these."""
        self._measurer.release(home_partitions)
        if self.used is not None:
            self.used = {p: offset for p, offset in self.used.items() if p not in home_partitions}

    async def close(self) -> None:
        await self._measurer.close()

    async def _try(self) -> str:
        self._fault = ""
        try:
            used = self._positions.folded
            deleted = self._positions.deleted(self._cluster)
            # Nothing keeps what is measured: there is much of it.
            measured = await self._measurer.measure(
                self._noted(self._positions.snapshots(self._cluster, used.keys()))
            )
            # While it took place, groups may have been deleted, or have gone to another instance.
            events = [
                event for event in measured if (event.cluster, event.group) in self._positions
            ]
            await self._publisher.publish(events, deleted)
            self._positions.deletions_published(deleted)
            self._measurer.forget(deleted)
            self.used = used
            reasons = Counter(
                reason
                for event in events
                for columns in event.topics.values()
                for reason in columns.reason
            )
            for reason in get_args(FreshnessReason):
                FRESHNESS_PARTITIONS.labels(self._cluster, reason).set(reasons[reason])
        except PublishFailed:  # the publisher has told it
            return "failed"
        except Exception as error:
            # A defect that one cluster's data brings out must not end the others' passes.
            log.error("pass failed", cluster=self._cluster, exc_info=error)
            name = type(error).__name__
            self._fault = f"cluster {self._cluster}: {name}, a fault of Warren (see its log)"
            return "failed"
        return "published"

    def _noted(self, groups: list[GroupSnapshot]) -> list[GroupSnapshot]:
        self.has_groups = bool(groups)
        return groups
