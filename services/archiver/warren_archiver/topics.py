"""Warren's topics as the home cluster has them: ids, where their logs begin and end."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient
from warren.kafka import topics
from warren.kafka.connection import awaited
from warren.kafka.topics import TIMEOUT, home_error


def topic_ids(admin: AdminClient, names: Collection[str]) -> dict[str, str]:
    """Kafka's ids by name: a topic that was deleted and made anew has another one.

    Raises KafkaError, TopicMissing for a topic that is not there.
    """
    with _classified():
        answers = admin.describe_topics(TopicCollection(list(names)), request_timeout=TIMEOUT)
        return {name: str(awaited(answer, TIMEOUT).topic_id) for name, answer in answers.items()}


def log_starts(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Log start offsets by partition. Raises KafkaError."""
    with _classified():
        return topics.log_starts(admin, topic)


def log_ends(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """As Spark may read them, by partition. Raises KafkaError."""
    with _classified():
        return topics.log_ends(admin, topic)


@contextmanager
def _classified() -> Iterator[None]:
    try:
        yield
    except KafkaException as error:
        raise home_error(error.args[0]) from None
