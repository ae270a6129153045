"""What a broker answers that has just been started: it does not yet lead its partitions."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

_STARTING = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
}


def is_starting(error: KafkaException) -> bool:
    """Whether the same question, asked again, may well be answered."""
    return error.args[0].code() in _STARTING
