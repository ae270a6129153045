"""What waits for a consumer group of Warren's own: asked of the broker, not of the consumer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from warren.errors import ClusterUnreachable
from warren.kafka.connection import client_options
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

ANSWER_SECONDS = 5.0
_START: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # theirs has no types
_END: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]


def _quiet(_: KafkaError) -> None:
    """The service itself tells what is wrong with the cluster."""


def _result(answer: Future[Any]) -> Any:
    """Not for ever: librdkafka may forget a request whose broker came back too late."""
    try:
        return answer.result(2 * ANSWER_SECONDS)
    except TimeoutError:
        raise ClusterUnreachable(HOME, "home.bootstrap", "no answer") from None


@dataclass(frozen=True, slots=True)
class Backlog:
    """By partition: how many records wait, and what is committed (negative: nothing)."""

    waiting: Mapping[int, int]
    committed: Mapping[int, int]


class LogRanges:
    """Where the partitions of a topic begin and end."""

    def __init__(self, home: HomeSettings, topic: str) -> None:
        self._admin = AdminClient(client_options(HOME, HOME, home, _quiet))
        self._topic = topic

    def read(self, partitions: Collection[int]) -> dict[int, tuple[int, int]]:
        """Log start and log end by partition. Raises KafkaException when there is no answer."""
        starts = self._offsets(partitions, _START)
        ends = self._offsets(partitions, _END)
        return {partition: (starts[partition], ends[partition]) for partition in partitions}

    def partitions(self) -> list[int]:
        """Raises KafkaException when there is no answer, or no such topic."""
        topics = self._admin.list_topics(timeout=ANSWER_SECONDS).topics
        return sorted(topics[self._topic].partitions) if self._topic in topics else []

    def _offsets(self, partitions: Collection[int], spec: OffsetSpec) -> dict[int, int]:
        asked = {TopicPartition(self._topic, partition): spec for partition in partitions}
        answers = self._admin.list_offsets(asked, request_timeout=ANSWER_SECONDS)
        return {place.partition: _result(answer).offset for place, answer in answers.items()}

    def committed(self, group_id: str) -> dict[int, int]:
        """By partition, of those with a committed offset. Raises KafkaException."""
        (answer,) = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group_id)], request_timeout=ANSWER_SECONDS
        ).values()
        found = _result(answer).topic_partitions
        return {p.partition: p.offset for p in found if p.topic == self._topic and p.offset >= 0}


class GroupBacklog:
    """One group's, on one topic."""

    def __init__(self, home: HomeSettings, group_id: str, topic: str) -> None:
        self._home = home
        self._group_id = group_id
        self._topic = topic
        self._ranges: LogRanges | None = None  # connects when first asked

    def read(self) -> Backlog:
        """Raises KafkaException when the cluster does not answer."""
        ranges, self._ranges = self._ranges or LogRanges(self._home, self._topic), None
        partitions = ranges.partitions()
        committed = ranges.committed(self._group_id)
        waiting = {
            partition: end - max(committed.get(partition, start), start)
            for partition, (start, end) in ranges.read(partitions).items()
        }
        self._ranges = ranges  # one that failed is not asked again
        return Backlog(waiting, committed)
