"""The sources of one cluster, together: those that are asked, beside the one that is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from warren.contracts.offset_event import SourceName
from warren.errors import KafkaError
from warren.kafka.trouble import Trouble

from warren_collector.positions.observed import ObservedPositions
from warren_collector.sources.offsets_topic import OffsetsTopicSource
from warren_collector.sources.polling import Polling
from warren_collector.sources.shards import Shards
from warren_collector.sources.source import Batch, Snapshot
from warren_collector.sources.source_partitions import SourcePartition, SourcePartitions

NO_RECORDS = Batch([], [], np.zeros(0, np.int32), np.zeros(0, np.int64))
_NO_OFFSET = -1


@dataclass(slots=True)
class PolledSource:
    """A source that is asked, and what it said so far."""

    name: SourceName
    polling: Polling[Snapshot]
    positions: ObservedPositions
    trouble: Trouble
    problem: KafkaError | None = None
    """Why it does not answer."""


class SourceSet:
    """As one source. What one of the asked ones cannot do is told and leaves the others alone.

    Without `offsets_topic` among them, the partitions are the shards.
    """

    def __init__(
        self,
        polled: list[PolledSource],
        shards: Shards,
        offsets_topic: OffsetsTopicSource | None,
        on_failed: Callable[[SourceName], None],
    ) -> None:
        self._polled = polled
        self._shards = shards
        self._offsets_topic = offsets_topic
        self._on_failed = on_failed
        self._own_partitions = SourcePartitions()

    @property
    def partitions(self) -> SourcePartitions:
        return self._offsets_topic.partitions if self._offsets_topic else self._own_partitions

    @property
    def is_ready(self) -> bool:
        if self._offsets_topic and not self._offsets_topic.is_ready:
            return False
        owned = self._shards.owned
        return owned is not None and all(
            owned <= source.positions.rebuilt for source in self._polled
        )

    @property
    def problem(self) -> KafkaError | None:
        asked = next((source.problem for source in self._polled if source.problem), None)
        return self._offsets_topic.problem or asked if self._offsets_topic else asked

    @property
    def obstacle(self) -> KafkaError | None:
        """Why none of the asked ones answers, where nothing is read beside them."""
        if self._offsets_topic or not all(source.problem for source in self._polled):
            return None
        return self.problem

    @property
    def pending(self) -> int:
        return self._offsets_topic.pending if self._offsets_topic else 0

    def poll(self, timeout: float) -> Batch:
        """Raises what the offsets topic, or sharing out the groups, raises."""
        batch = NO_RECORDS
        if self._offsets_topic:
            batch = self._offsets_topic.poll(timeout)
            timeout = 0.0
        self._shards.poll()
        owned = self._shards.owned or frozenset()
        for source in self._polled:
            source.polling.own(owned)
            self._take(source, timeout, owned)
            timeout = 0.0
        self._follow(owned)
        return batch

    def store(self) -> None:
        if self._offsets_topic:
            self._offsets_topic.store()

    def backlog(self) -> int:
        return self._offsets_topic.backlog() if self._offsets_topic else 0

    def reread(self) -> None:
        """Those that are asked tell all with every snapshot."""
        if self._offsets_topic:
            self._offsets_topic.reread()

    def _take(self, source: PolledSource, timeout: float, owned: frozenset[int]) -> None:
        try:
            snapshot = source.polling.take(timeout)
        except KafkaError as error:
            self._on_failed(source.name)
            source.trouble.tell(error)
            source.problem = error
            return
        if snapshot is not None:
            source.problem = None
            source.trouble.over()
            source.positions.observe(snapshot, owned)

    def _follow(self, owned: frozenset[int]) -> None:
        """Shards are partitions without offsets; live once any source has told of them."""
        if self._offsets_topic:
            return
        rebuilt = set().union(*(source.positions.rebuilt for source in self._polled))
        for shard in [p.number for p in self._own_partitions if p.number not in owned]:
            self._own_partitions.remove(shard)
        for shard in owned:
            self._own_partitions.add(
                SourcePartition(
                    shard,
                    count_from=_NO_OFFSET,
                    end=_NO_OFFSET,
                    stored=None,
                    position=_NO_OFFSET,
                    is_live=shard in rebuilt,
                )
            )
