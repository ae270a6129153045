"""Catching up: whether what was in partitions when they were first read has been read.

librdkafka says that an end is reached when a request for more waits in vain, for half a second. Of
a partition that somebody writes to more often it never does.
"""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import Consumer, TopicPartition

Place = tuple[str, int]
"""Topic and partition."""


class CatchingUp:
    """Of a consumer's partitions. Whoever polls tells of each record, and of each end."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._behind: set[Place] = set()
        self._ends: dict[Place, int] = {}

    def begin(self, places: Iterable[Place]) -> None:
        """These are read from now on."""
        for place in places:
            self._ends.pop(place, None)
            self._behind.add(place)

    def end(self, places: Iterable[Place]) -> None:
        """The ends of these are reached, or they are not read any more."""
        for place in places:
            self._ends.pop(place, None)
            self._behind.discard(place)

    def read(self, place: Place, offset: int) -> None:
        """A record has come."""
        if place not in self._behind:
            return
        end = self._ends.get(place)
        if end is None:
            end = self._high_watermark(place)
            if end < 0:
                return
            self._ends[place] = end
        if offset + 1 >= end:
            self.end((place,))

    def is_behind(self, place: Place) -> bool:
        return place in self._behind

    @property
    def is_done(self) -> bool:
        return not self._behind

    def _high_watermark(self, place: Place) -> int:
        """As it came with the records; negative when none has."""
        _, end = self._consumer.get_watermark_offsets(TopicPartition(*place), cached=True)
        return int(end)
