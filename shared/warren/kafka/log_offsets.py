"""Where the logs of a topic begin and end, by an admin client."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from warren.kafka.connection import awaited

TIMEOUT = 30.0  # seconds
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # not annotated there
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # not annotated there


def log_starts(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Log start offsets by partition. Raises KafkaException."""
    return _list(admin, topic, _EARLIEST)


def log_ends(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Log end offsets by partition. Raises KafkaException."""
    return _list(admin, topic, _LATEST)


def _list(admin: AdminClient, topic: str, spec: OffsetSpec) -> Mapping[int, int]:
    # Besides the partitions, this brings their leaders, which list_offsets does not ask for where a
    # new topic had none: librdkafka would keep that for 15 minutes (metadata.max.age.ms).
    metadata = admin.list_topics(topic, timeout=TIMEOUT).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    wanted = {TopicPartition(topic, partition): spec for partition in metadata.partitions}
    answers = admin.list_offsets(wanted, request_timeout=TIMEOUT)
    return {place.partition: awaited(answer, TIMEOUT).offset for place, answer in answers.items()}
