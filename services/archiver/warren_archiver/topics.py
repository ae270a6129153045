"""Warren's topics as the home cluster has them: ids, where their logs begin and end."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from confluent_kafka import KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from warren.kafka.connection import classify
from warren.kafka.topics import HOME

TIMEOUT = 30.0  # seconds
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # not annotated there
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # not annotated there


def topic_ids(admin: AdminClient, names: Collection[str]) -> dict[str, str]:
    """Kafka's ids by name: a topic that was deleted and made anew has another one.

    Raises KafkaError, TopicMissing for a topic that is not there.
    """
    answers = admin.describe_topics(TopicCollection(list(names)), request_timeout=TIMEOUT)
    try:
        return {name: str(answer.result().topic_id) for name, answer in answers.items()}
    except KafkaException as error:
        raise classify(HOME, "home", error.args[0]) from None


def log_starts(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Log start offsets by partition. Raises KafkaError."""
    return _list(admin, topic, _EARLIEST)


def log_ends(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Log end offsets by partition. Raises KafkaError."""
    return _list(admin, topic, _LATEST)


def _list(admin: AdminClient, topic: str, spec: OffsetSpec) -> Mapping[int, int]:
    try:
        # Besides the partitions, this brings their leaders, which list_offsets does not ask for
        # where a new topic had none: librdkafka would keep that for 15 minutes.
        metadata = admin.list_topics(topic, timeout=TIMEOUT).topics[topic]
        if metadata.error is not None:
            raise classify(HOME, "home", metadata.error)
        wanted = {TopicPartition(topic, partition): spec for partition in metadata.partitions}
        answers = admin.list_offsets(wanted, request_timeout=TIMEOUT)
        return {place.partition: answer.result().offset for place, answer in answers.items()}
    except KafkaException as error:
        raise classify(HOME, "home", error.args[0]) from None
