"""Where the logs ended lately. That is of topics: it is known before a group comes."""

from __future__ import annotations

import numpy as np

from warren_collector.logs.ends import LogEnds
from warren_collector.logs.highest import UNKNOWN, Int64s

KEPT = 10  # ends of each partition
APART_MS = 10_000


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
