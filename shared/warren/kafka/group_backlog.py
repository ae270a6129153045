"""What waits for a consumer group of Warren's own: asked of the broker, not of its members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, TopicPartition

from warren.kafka.connection import client_options
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

ANSWER_SECONDS = 5.0


def _quiet(_: KafkaError) -> None:
    """The service itself tells what is wrong with the cluster."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """By partition: how many records wait, and what is committed (negative: nothing)."""

    waiting: Mapping[int, int]
    committed: Mapping[int, int]


class GroupBacklog:
    """One group's, on one topic. For one thread.

    It asks by a consumer that never joins the group: its calls end within their time, and in the
    thread that made them. Answers to an AdminClient come by a thread of its own, which did not
    survive the end of a process that still asked.
    """

    def __init__(self, home: HomeSettings, group_id: str, topic: str) -> None:
        self._home = home
        self._group_id = group_id
        self._topic = topic
        self._consumer: Consumer | None = None  # connects when first asked

    def read(self) -> Backlog:
        """Raises KafkaException when the cluster does not answer."""
        consumer = self._consumer = self._consumer or self._connected()
        try:
            return self._read(consumer)
        except Exception:
            self._consumer = None  # one that failed is not asked again
            consumer.close()
            raise

    def _read(self, consumer: Consumer) -> Backlog:
        topics = consumer.list_topics(self._topic, timeout=ANSWER_SECONDS).topics
        partitions = [
            TopicPartition(self._topic, p) for p in sorted(topics[self._topic].partitions)
        ]
        if not partitions:
            return Backlog({}, {})
        committed = {
            place.partition: place.offset
            for place in consumer.committed(partitions, timeout=ANSWER_SECONDS)
            if place.offset >= 0
        }
        waiting = {}
        for place in partitions:
            start, end = consumer.get_watermark_offsets(place, timeout=ANSWER_SECONDS)
            waiting[place.partition] = end - max(committed.get(place.partition, start), start)
        return Backlog(waiting, committed)

    def _connected(self) -> Consumer:
        options = client_options(
            HOME, HOME, self._home, _quiet, group_id=self._group_id, enable_auto_commit=False
        )
        return Consumer(options)
