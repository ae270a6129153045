"""What waits for a consumer group of Warren's own: asked of the broker, not of its members."""

from collections.abc import Mapping
from dataclasses import dataclass

import confluent_kafka
from confluent_kafka import Consumer, KafkaException, TopicPartition

from warren.kafka.connection import new_client
from warren.kafka.topics import HOME, home_error
from warren.settings import HomeSettings

ANSWER_SECONDS = 5.0


def _quiet(_: confluent_kafka.KafkaError) -> None:
    """The service itself tells what is wrong with the cluster."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """By partition: how many records wait, what is committed (absent: nothing), where logs end."""

    waiting: Mapping[int, int]
    committed: Mapping[int, int]
    ends: Mapping[int, int]


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
        """Ask the broker. Raises the classified error when it does not answer, refuses, or has no
        such topic.
        """
        consumer = self._consumer = self._consumer or new_client(
            Consumer,
            HOME,
            HOME,
            self._home,
            _quiet,
            group_id=self._group_id,
            enable_auto_commit=False,
        )
        try:
            return self._read(consumer)
        except Exception as error:
            # One that failed is not asked again: the next one has the credentials of then.
            self._consumer = None
            consumer.close()
            if isinstance(error, KafkaException):
                raise home_error(error.args[0]) from None
            raise

    def _read(self, consumer: Consumer) -> Backlog:
        topic = consumer.list_topics(self._topic, timeout=ANSWER_SECONDS).topics[self._topic]
        if topic.error is not None:
            raise KafkaException(topic.error)
        partitions = [TopicPartition(self._topic, p) for p in sorted(topic.partitions)]
        committed = {}
        for place in consumer.committed(partitions, timeout=ANSWER_SECONDS):
            if place.error is not None:
                raise KafkaException(place.error)
            if place.offset >= 0:
                committed[place.partition] = place.offset
        waiting, ends = {}, {}
        for place in partitions:
            start, end = consumer.get_watermark_offsets(place, timeout=ANSWER_SECONDS)
            waiting[place.partition] = end - max(committed.get(place.partition, start), start)
            ends[place.partition] = end
        return Backlog(waiting, committed, ends)
