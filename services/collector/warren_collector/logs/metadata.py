"""Which partitions the watched topics have and who leads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from warren.clock import Clock
from warren.kafka.brokers import Brokers
from warren.kafka.metadata import (
    INVALID_TOPIC,
    NO_ERROR,
    NO_LEADER,
    NOT_AUTHORISED,
    UNKNOWN_TOPIC,
    described_topics,
)
from warren.kafka.refusals import Refusals

MAX_AGE = 30.0  # seconds; new partitions are seen after that long
# A broker may not know a new topic yet, so one answer is not enough to call it missing.
MISSING_AFTER = 2


class TopicMetadata:
    """Asked for again when it is 30 s old, when a topic is new, and after `expire`."""

    def __init__(self, cluster: str, setting: str, clock: Clock) -> None:
        self.cluster = cluster
        self.setting = setting
        self.leaders: dict[str, list[int]] = {}
        """Broker by partition, or NO_LEADER; only topics that can be described."""
        self._clock = clock
        self._refreshed_at: float | None = None
        self._asked: frozenset[str] = frozenset()
        self._wanted: set[str] = set()
        self._absences: Counter[str] = Counter()
        self._refusals = Refusals(cluster, setting, "DESCRIBE", "topic", "their lag is unknown")

    @property
    def missing(self) -> frozenset[str]:
        """Topics that the cluster does not have."""
        return frozenset(t for t, seen in self._absences.items() if seen >= MISSING_AFTER)

    @property
    def suspected(self) -> frozenset[str]:
        """Topics that may be missing; the next answer will tell."""
        return frozenset(t for t, seen in self._absences.items() if seen < MISSING_AFTER)

    def expire(self) -> None:
        self._refreshed_at = None

    async def refresh(self, brokers: Brokers, topics: Sequence[str]) -> None:
        """Raises ClusterUnreachable or AuthenticationFailed."""
        now = self._clock.monotonic()
        self._wanted.update(topics)
        is_fresh = self._refreshed_at is not None and now - self._refreshed_at < MAX_AGE
        if is_fresh and self._asked.issuperset(topics):
            return
        self._asked = frozenset(self._wanted)
        self._take(await brokers.metadata(sorted(self._asked)))
        if not is_fresh:
            self._wanted = set(topics)  # others are asked for again when somebody wants them
        self._refreshed_at = None if self.suspected else now

    def _take(self, response: Any) -> None:
        leaders: dict[str, list[int]] = {}
        absent: set[str] = set()
        unauthorised: set[str] = set()
        for topic in described_topics(response):
            if topic.error == NO_ERROR:
                leaders[topic.name] = _by_partition(topic.leaders)
            elif topic.error in (UNKNOWN_TOPIC, INVALID_TOPIC):
                absent.add(topic.name)
            elif topic.error == NOT_AUTHORISED:
                unauthorised.add(topic.name)
        self.leaders = leaders
        self._absences = Counter({topic: self._absences[topic] + 1 for topic in absent})
        self._refusals.observe(unauthorised)


def _by_partition(leaders: dict[int, int]) -> list[int]:
    return [leaders.get(partition, NO_LEADER) for partition in range(len(leaders))]
