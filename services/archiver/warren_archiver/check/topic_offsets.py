"""What a plain consumer finds in a topic: which offsets are there, by partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from warren.kafka.connection import classify
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

from warren_archiver.lake.offset_ranges import OffsetRanges, RangeBuilder

TIMEOUT = 30.0  # seconds
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # not annotated there
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # not annotated there


@dataclass(frozen=True, slots=True)
class TopicOffsets:
    """Records of a partition that are still retained, and where the log ended before the reading.

    `retained` may go on beyond `log_end`.
    """

    retained: OffsetRanges
    log_start: int
    log_end: int


def read_offsets(home: HomeSettings, admin: AdminClient, topic: str) -> dict[int, TopicOffsets]:
    """Reads the whole topic once. Raises KafkaError."""
    ends = read_ends(admin, topic)
    builders: dict[int, RangeBuilder] = defaultdict(RangeBuilder)
    reader = TopicReader(HOME, "home", home, [topic])
    try:
        while not reader.caught_up:
            for message in reader.poll(1.0):
                builders[message.partition() or 0].add(message.offset() or 0)
    finally:
        reader.close()
    # Asked for last: what retention has deleted meanwhile is not expected of the table.
    starts = _list(admin, topic, _EARLIEST)
    return {
        partition: TopicOffsets(builders[partition].build(), starts[partition], end)
        for partition, end in ends.items()
    }


def read_ends(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Log end offsets by partition. Raises KafkaError."""
    return _list(admin, topic, _LATEST)


def _list(admin: AdminClient, topic: str, spec: OffsetSpec) -> Mapping[int, int]:
    try:
        metadata = admin.list_topics(topic, timeout=TIMEOUT).topics[topic]
        if metadata.error is not None:
            raise classify(HOME, "home", metadata.error)
        wanted = {TopicPartition(topic, partition): spec for partition in metadata.partitions}
        answers = admin.list_offsets(wanted, request_timeout=TIMEOUT)
        return {place.partition: answer.result().offset for place, answer in answers.items()}
    except KafkaException as error:
        raise classify(HOME, "home", error.args[0]) from None
