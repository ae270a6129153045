"""Watching of all topics' logs: where each ended is known before anybody commits."""

from collections.abc import Callable, Container

import numpy as np
from warren.clock import Clock
from warren.contracts import TOPICS, TopicsEvent
from warren.errors import AuthenticationFailed, ClusterUnreachable, PublishFailed
from warren.kafka.connection import Trouble
from warren.kafka.producer import Bus

from warren_collector.logs.ends import UNKNOWN, Int64s, LogEnds, LogEndsReader

KEPT = 10  # ends of each partition
APART_MS = 10_000
EVERY = APART_MS / 1000
SPOKESMAN = 0
"""Whichever collector owns this source partition speaks for all of the cluster's."""


class _Ring:
    """The ends of one topic, [end, partition], newest last."""

    __slots__ = ("at", "ends")

    def __init__(self, partitions: int) -> None:
        self.ends = np.full((KEPT, partitions), UNKNOWN, np.int64)
        self.at = UNKNOWN

    def resize(self, partitions: int) -> None:
        ends = np.full((KEPT, partitions), UNKNOWN, np.int64)
        both = min(partitions, self.ends.shape[1])
        ends[:, :both] = self.ends[:, :both]
        self.ends = ends

    def add(self, end: Int64s, at: int) -> None:
        known = end != UNKNOWN
        anew = known & (end < self.ends[-1])
        if anew.any():
            self.ends[:, anew] = UNKNOWN  # of another log that had the name
        if at // APART_MS != self.at // APART_MS:
            self.ends[:-1] = self.ends[1:]
            self.at = at
        np.copyto(self.ends[-1], end, where=known)


class LogHistory:
    """Ten ends of each partition, of different stretches of 10 s, as Burrow keeps them."""

    def __init__(self) -> None:
        self._rings: dict[str, _Ring] = {}

    def __len__(self) -> int:
        """Topics."""
        return len(self._rings)

    def add(self, ends: LogEnds, at: int) -> None:
        """What was read at that time, Unix milliseconds. Topics that are gone are forgotten."""
        for topic, log in ends.topics.items():
            self.add_topic(topic, log.end, at)
        for topic in ends.missing:
            self._rings.pop(topic, None)

    def add_topic(self, topic: str, end: Int64s, at: int) -> None:
        ring = self._rings.get(topic)
        if ring is None:
            ring = self._rings[topic] = _Ring(len(end))
        elif ring.ends.shape[1] != len(end):
            ring.resize(len(end))
        ring.add(end, at)

    def of(self, topic: str, partitions: Int64s) -> list[list[int]]:
        """The known ends of each of these partitions, oldest first."""
        ring = self._rings.get(topic)
        if ring is None:
            return [[] for _ in partitions]
        known = np.full((len(partitions), KEPT), UNKNOWN, np.int64)
        there = partitions < ring.ends.shape[1]
        known[there] = ring.ends[:, partitions[there]].T
        if (known != UNKNOWN).all():
            return known.tolist()
        return [[end for end in ends if end != UNKNOWN] for ends in known.tolist()]


class LogWatch:
    """Reads the ends of all watched topics every 10 s; at first those of the 100 s before, too."""

    def __init__(self, reader: LogEndsReader, accepts: Callable[[str], bool], clock: Clock) -> None:
        """`accepts` says whether a topic is watched."""
        self.history = LogHistory()
        self._reader = reader
        self._accepts = accepts
        self._clock = clock
        self._looked_at = -EVERY
        self._knows_past = False
        self.problem: ClusterUnreachable | AuthenticationFailed | None = None
        """Why they could not be read the last time."""

    def look(self) -> LogEnds | None:
        """What was read, if it was time to. What cannot be read is left until the next time."""
        now = self._clock.monotonic()
        if now - self._looked_at < EVERY:
            return None
        self._looked_at = now
        try:
            ends = self._reader.read_all(self._accepts)
            if not self._knows_past:
                self._recall()
                self._knows_past = True
        except (ClusterUnreachable, AuthenticationFailed) as error:
            self.problem = error
            return None
        self.problem = None
        self.history.add(ends, self._clock.now_ms())
        return ends

    def _recall(self) -> None:
        """By the records' timestamps, which is as good as those are."""
        now = self._clock.now_ms()
        times = [now - age * APART_MS for age in range(KEPT - 1, 0, -1)]
        for time, ends in zip(times, self._reader.read_past(self._accepts, times), strict=True):
            for topic, end in ends.items():
                self.history.add_topic(topic, end, time)


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
