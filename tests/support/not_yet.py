"""What brokers answer for a moment after they were started or a topic was created."""

from confluent_kafka import KafkaError, KafkaException

_NOT_YET = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
}


def is_not_yet(error: KafkaException) -> bool:
    """Whether the same question, asked again, may well be answered."""
    return error.args[0].code() in _NOT_YET
