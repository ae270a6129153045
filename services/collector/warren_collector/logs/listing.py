"""Publishing of all topics of a cluster: also of those that nobody consumes."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Protocol

from warren.clock import Clock
from warren.contracts import TopicsEvent
from warren.contracts.topics import TOPICS
from warren.errors import AuthenticationFailed, ClusterUnreachable, PublishFailed
from warren.kafka.producer import Bus

from warren_collector.logs.ends import LogEnds
from warren_collector.trouble import Trouble

EVERY = 10.0  # seconds
SPOKESMAN = 0
"""Whichever collector owns this source partition speaks for all of the cluster's."""


class AllEndsReader(Protocol):
    """LogEndsReader, or what a test has in its place."""

    def read_all(self, accepts: Callable[[str], bool]) -> LogEnds: ...


class TopicListing:
    """One event every 10 s from one of the cluster's collectors."""

    def __init__(
        self,
        cluster: str,
        ends: AllEndsReader,
        bus: Bus,
        topic_prefix: str,
        accepts: Callable[[str], bool],
        clock: Clock,
    ) -> None:
        """`accepts` says whether a topic is watched."""
        self._cluster = cluster
        self._accepts = accepts
        self._ends = ends
        self._bus = bus
        self._topic = TOPICS.full_name(topic_prefix)
        self._clock = clock
        self._trouble = Trouble(cluster, clock)
        self._published_at = -EVERY

    def publish(self, owned: Container[int]) -> bool:
        """Whether an event was due, this collector's to publish, and is acknowledged.

        `owned`: source partitions. What failed is tried again when the next one is due.
        """
        now = self._clock.monotonic()
        if SPOKESMAN not in owned or now - self._published_at < EVERY:
            return False
        self._published_at = now
        try:
            event = self._event(self._ends.read_all(self._accepts))
            self._bus.send(self._topic, self._cluster.encode(), event.to_bytes())
            self._bus.flush()
        except (ClusterUnreachable, AuthenticationFailed, PublishFailed) as error:
            self._trouble.tell(error)
            return False
        self._trouble.over()
        return True

    def _event(self, ends: LogEnds) -> TopicsEvent:
        # What was just read is what the contract allows: checking it costs more than reading it.
        return TopicsEvent.model_construct(
            cluster=self._cluster,
            observed_at=self._clock.now_ms(),
            log_ends={topic: log.end.tolist() for topic, log in ends.topics.items()},
        )
