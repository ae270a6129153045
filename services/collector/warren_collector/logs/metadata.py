"""Which partitions the watched topics have and who leads them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from warren.clock import Clock
from warren.kafka.connection import Refusals
from warren_wire.brokers import Brokers
from warren_wire.metadata import (
    INVALID_TOPIC,
    NO_ERROR,
    NO_LEADER,
    NOT_AUTHORISED,
    UNKNOWN_TOPIC,
    TopicDescription,
    described_topics,
)

MAX_AGE = 30.0  # seconds; new partitions without a commit are seen after that long
# A broker may not know a new topic or partition yet: one answer is not enough to call it missing.
MISSING_AFTER = 2


class TopicMetadata:
    """Asked for again when it is 30 s old, when a topic is new, and after `expire`; and about
    topics that lack what commits name.
    """

    def __init__(self, cluster: str, setting: str, clock: Clock) -> None:
        self.cluster = cluster
        self.setting = setting
        self.leaders: dict[str, list[int]] = {}
        """Broker by partition, or NO_LEADER; only topics that can be described."""
        self.ids: dict[str, str] = {}
        """Of the same topics; empty where brokers have no ids."""
        self._clock = clock
        self._refreshed_at: float | None = None
        self._requested: frozenset[str] = frozenset()
        self._wanted: set[str] = set()
        self._unauthorised: set[str] = set()
        self._absences: Counter[str] = Counter()
        self._shortfalls: Counter[str] = Counter()
        """Looks at which a topic had fewer partitions than commits name."""
        self._refusals = Refusals(cluster, setting, "DESCRIBE", "topic", "their lag is unknown")

    @property
    def missing(self) -> frozenset[str]:
        """Topics that the cluster does not have."""
        return frozenset(t for t, seen in self._absences.items() if seen >= MISSING_AFTER)

    @property
    def suspected(self) -> frozenset[str]:
        """Topics that may be missing, or have more partitions; the next answer will tell."""
        doubts = (*self._absences.items(), *self._shortfalls.items())
        return frozenset(topic for topic, seen in doubts if seen < MISSING_AFTER)

    @property
    def refused(self) -> frozenset[str]:
        """Topics that Warren may not describe."""
        return frozenset(self._unauthorised)

    def expire(self) -> None:
        self._refreshed_at = None

    async def refresh(
        self, brokers: Brokers, named: Mapping[str, int], *, is_second: bool = False
    ) -> None:
        """`named`: topics to know, and how many partitions of each commits name.

        What is older than a commit says nothing against it. `is_second`: in the same reading, which
        is no second look. Raises ClusterUnreachable or AuthenticationFailed.
        """
        look = 0 if is_second else 1
        now = self._clock.monotonic()
        self._wanted.update(named)
        is_fresh = self._refreshed_at is not None and now - self._refreshed_at < MAX_AGE
        if is_fresh and self._requested.issuperset(named):
            doubtful = [
                topic
                for topic, partitions in named.items()
                if partitions > len(self.leaders.get(topic, ())) and topic not in self._unauthorised
            ]
            if doubtful:
                self._take(doubtful, await brokers.metadata(doubtful), look)
        else:
            self._requested = frozenset(self._wanted)
            # What is not asked about any more; ids stay, to tell a topic made anew.
            self.leaders = {
                t: leaders for t, leaders in self.leaders.items() if t in self._requested
            }
            self._unauthorised &= self._requested
            for doubts in (self._absences, self._shortfalls):
                for topic in doubts.keys() - self._requested:
                    del doubts[topic]
            self._take(self._requested, await brokers.metadata(sorted(self._requested)), look)
            if not is_fresh:
                self._wanted = set(named)  # others are asked for again when somebody wants them
            self._refreshed_at = now
        self._count_shortfalls(named, look)
        suspected = self.suspected
        if any(
            topic in suspected and (count or topic in self._absences)
            for topic, count in named.items()
        ):
            self._refreshed_at = None

    async def refresh_all(self, brokers: Brokers) -> list[str]:
        """The names of all topics that may be described. Raises what `refresh` raises."""
        response = await brokers.metadata(None)
        described = [topic for topic in described_topics(response) if topic.error == NO_ERROR]
        names = [topic.name for topic in described]
        # A topic that is not among them may be one that must not be described: that says nothing.
        for topic in described:
            self._describe(topic)
            self._absences.pop(topic.name, None)
        self._wanted.update(names)
        self._requested |= frozenset(names)
        if self._requested.issubset(names):
            self._refreshed_at = self._clock.monotonic()
        return names

    def _take(self, requested: Iterable[str], response: Any, look: int) -> None:
        self._unauthorised.difference_update(requested)
        described, absent = set(), set()
        for topic in described_topics(response):
            if topic.error == NO_ERROR:
                described.add(topic.name)
                self._describe(topic)
            elif topic.error in (UNKNOWN_TOPIC, INVALID_TOPIC):
                absent.add(topic.name)
            elif topic.error == NOT_AUTHORISED:
                self._unauthorised.add(topic.name)
        for name in set(requested) - described:
            self.leaders.pop(name, None)
        for name in set(requested) - absent:
            self._absences.pop(name, None)
        for name in absent:
            self._absences[name] = max(self._absences[name] + look, 1)
            if self._absences[name] >= MISSING_AFTER:
                self.ids.pop(name, None)
        self._refusals.observe(self._unauthorised)

    def _describe(self, topic: TopicDescription) -> None:
        before = self.ids.get(topic.name)
        if before is not None and topic.id != before:
            # Made anew: partitions beyond those it has now were the old topic's.
            self._shortfalls[topic.name] = MISSING_AFTER
        self.ids[topic.name] = topic.id
        self.leaders[topic.name] = [
            topic.leaders.get(partition, NO_LEADER) for partition in range(len(topic.leaders))
        ]

    def _count_shortfalls(self, named: Mapping[str, int], look: int) -> None:
        """Topics never lose partitions: one that seems to have too few is looked at once more."""
        for topic, partitions in named.items():
            known = self.leaders.get(topic)
            if known is not None and partitions > len(known):
                self._shortfalls[topic] = max(self._shortfalls[topic] + look, 1)
            elif partitions:
                self._shortfalls.pop(topic, None)
