"""Who leads the partitions of the topics that are read, and which topics may not be read."""

from collections.abc import Collection, Iterable
from typing import Any

from warren.clock import Clock
from warren.errors import AuthorizationFailed
from warren.kafka.connection import log_retry
from warren_wire.brokers import Brokers
from warren_wire.metadata import (
    NO_ERROR,
    NO_LEADER,
    NOT_AUTHORISED,
    TopicDescription,
    described_topics,
)

MAX_AGE = 60.0  # seconds; leaders that moved are noticed at once, by the read that failed


class TopicMetadata:
    """Asked for again when it is a minute old, when a topic is new, and after `expire`."""

    def __init__(self, brokers: Brokers, cluster: str, setting: str, clock: Clock) -> None:
        self._brokers = brokers
        self._cluster = cluster
        self._setting = setting
        self._clock = clock
        self._topics: dict[str, TopicDescription] = {}
        self._requested: frozenset[str] = frozenset()
        self._requested_at: float | None = None
        self._not_authorised: frozenset[str] = frozenset()
        self._reported: frozenset[str] = frozenset()

    async def refresh(self, topics: Iterable[str]) -> None:
        """Raises ClusterUnreachable or AuthenticationFailed; what was known stays known."""
        wanted = frozenset(topics)
        now = self._clock.monotonic()
        fresh = self._requested_at is not None and now - self._requested_at < MAX_AGE
        if not wanted or (fresh and self._requested >= wanted):
            return
        self._take(await self._brokers.metadata(sorted(wanted)))
        self._requested, self._requested_at = wanted, now

    def expire(self) -> None:
        self._requested_at = None

    def leader(self, topic: str, partition: int) -> int:
        """Broker id, or NO_LEADER."""
        facts = self._topics.get(topic)
        return NO_LEADER if facts is None else facts.leaders.get(partition, NO_LEADER)

    def is_described(self, topic: str) -> bool:
        """Whether the cluster tells of the topic."""
        return topic in self._topics

    def topic_id(self, topic: str) -> str:
        """Empty while it is unknown."""
        facts = self._topics.get(topic)
        return "" if facts is None else facts.id

    def is_authorised(self, topic: str) -> bool:
        """Whether the topic may be described and, as far as was tried, read."""
        return topic not in self._not_authorised

    @property
    def refusal(self) -> AuthorizationFailed | None:
        """That none of the topics may be described, though some are asked for."""
        if not self._topics and self._not_authorised:
            return self._refused(self._not_authorised, "DESCRIBE")
        return None

    def refuse(self, topics: Iterable[str]) -> None:
        """Reading these was refused: they are not tried again before the next refresh."""
        self._not_authorised |= frozenset(topics)
        news = sorted(self._not_authorised - self._reported)
        self._reported |= self._not_authorised
        if news:
            log_retry(self._refused(news, "READ"))

    def _refused(self, topics: Collection[str], right: str) -> AuthorizationFailed:
        more = f" and {len(topics) - 1} more topics" if len(topics) > 1 else ""
        problem = f"not authorised: {right} on topic {min(topics)}{more}; its freshness is unknown"
        return AuthorizationFailed(self._cluster, f"{self._setting}.kafka", problem)

    def _take(self, response: Any) -> None:
        described = list(described_topics(response))
        self._topics = {topic.name: topic for topic in described if topic.error == NO_ERROR}
        self._not_authorised = frozenset()
        self.refuse(topic.name for topic in described if topic.error == NOT_AUTHORISED)
