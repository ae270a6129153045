"""What a source is to the stack: a stream of batches, and partitions that are this collector's."""

from __future__ import annotations

from typing import Protocol

from warren.errors import KafkaError

from warren_collector.sources.batch import Batch
from warren_collector.sources.source_partitions import SourcePartitions


class Source(Protocol):
    """OffsetsTopicSource, or several sources together (SourceSet)."""

    @property
    def partitions(self) -> SourcePartitions:
        """Those owned, and how far each was read."""

    @property
    def is_ready(self) -> bool:
        """All that was there at the start is known."""

    @property
    def problem(self) -> KafkaError | None:
        """What keeps one of several sources from telling anything, while the others go on."""

    @property
    def obstacle(self) -> KafkaError | None:
        """What keeps all of them from telling anything, as far as `poll` does not raise it."""

    @property
    def pending(self) -> int:
        """Records that wait for the end of their transactions."""

    def poll(self, timeout: float) -> Batch:
        """What has arrived within `timeout` seconds. Raises KafkaError."""

    def store(self) -> None:
        """All that was polled is on the bus."""

    def backlog(self) -> int:
        """Records of the owned partitions that are not read yet, as last heard."""

    def reread(self) -> None:
        """Other groups are wanted now: tells what is there once more. Raises KafkaError."""
