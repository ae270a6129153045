"""Publishing of all topics of a cluster: also of those that nobody consumes."""

from __future__ import annotations

from collections.abc import Container

from warren.clock import Clock
from warren.contracts import TopicsEvent
from warren.contracts.topics import TOPICS
from warren.errors import PublishFailed
from warren.kafka.producer import Bus
from warren.kafka.trouble import Trouble

from warren_collector.logs.ends import LogEnds

SPOKESMAN = 0
"""Whichever collector owns this source partition speaks for all of the cluster's."""


class TopicListing:
    """One event from one of the cluster's collectors whenever all log ends were read."""

    def __init__(self, cluster: str, bus: Bus, topic_prefix: str, clock: Clock) -> None:
        self._cluster = cluster
        self._bus = bus
        self._topic = TOPICS.full_name(topic_prefix)
        self._clock = clock
        self._trouble = Trouble(cluster, clock)

    def publish(self, ends: LogEnds | None, owned: Container[int]) -> bool:
        """Whether there was something to publish by this collector, and it is acknowledged.

        `ends`: of all topics, if they have just been read; what is not acknowledged is left until
        they are read again. `owned`: source partitions.
        """
        if ends is None or SPOKESMAN not in owned:
            return False
        try:
            self._bus.send(self._topic, self._cluster.encode(), self._event(ends).to_bytes())
            self._bus.flush()
        except PublishFailed as error:
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
