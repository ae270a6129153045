"""The demo's topics, its producer, and the records that are in them before anybody consumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import confluent_kafka
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed
from warren.kafka.connection import client_options
from warren.kafka.topics import log_ends
from warren.settings import KafkaConnection

TIMEOUT = 30.0  # seconds


@dataclass(frozen=True, slots=True)
class DemoTopic:
    """`backlog` records are in each partition from the start; `count` more come every `every` s."""

    name: str
    partitions: int
    backlog: int
    every: float = 1.0
    count: int = 1
    config: Mapping[str, str] = field(default_factory=dict)


# Bursts with pauses: a group that keeps up is at lag zero most of the time. Longer than two commits
# (1.2 s each), so that at most every other commit sees a fresh burst. Its groups need no more than
# an hour of records.
ORDERS = DemoTopic(
    "demo.orders", 4, 0, 3.0, 20, {"retention.ms": "3600000", "segment.ms": "600000"}
)
# An even trickle, faster than its consumer.
PAYMENTS = DemoTopic("demo.payments", 1, 1_000, 0.1)
INVOICES = DemoTopic("demo.invoices", 1, 500)
# A segment is deleted a minute after its newest record: a group that is stuck loses records.
SENSORS = DemoTopic(
    "demo.sensors", 1, 50, count=2, config={"retention.ms": "60000", "segment.ms": "10000"}
)

TOPICS = (ORDERS, PAYMENTS, INVOICES, SENSORS)


class Feed:
    """Sends small numbered records; a record that cannot be delivered ends the demo."""

    def __init__(self, cluster: str, setting: str, connection: KafkaConnection) -> None:
        options = client_options(
            cluster,
            setting,
            connection,
            client_id="demo-producer",
            compression_type="lz4",
            linger_ms=5,
            delivery_report_only_error=True,
        )
        self._producer = Producer(options)
        self._number = 0
        self._failure: confluent_kafka.KafkaError | None = None

    def send(self, topic: str, partition: int, count: int) -> None:
        """Hand `count` records over; raises KafkaException when an earlier one was refused."""
        for _ in range(count):
            self._number += 1
            value = b'{"number":%d}' % self._number
            self._producer.produce(topic, value, partition=partition, on_delivery=self._delivered)
        self._producer.poll(0)
        self._raise_failure()

    def flush(self) -> None:
        """Wait until all are acknowledged; raises KafkaException when one is not."""
        left = self._producer.flush(TIMEOUT)
        self._raise_failure()
        if left:
            raise KafkaException(confluent_kafka.KafkaError(confluent_kafka.KafkaError._TIMED_OUT))

    def _delivered(
        self, error: confluent_kafka.KafkaError | None, _message: confluent_kafka.Message
    ) -> None:
        self._failure = self._failure or error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise KafkaException(self._failure)


def prepare_topics(admin: AdminClient, feed: Feed, topics: Sequence[DemoTopic] = TOPICS) -> None:
    """Create what is missing and fill it up; raises KafkaException."""
    requests = [
        NewTopic(topic.name, topic.partitions, config=dict(topic.config)) for topic in topics
    ]
    for future in admin.create_topics(requests, operation_timeout=TIMEOUT).values():
        try:
            future.result(TIMEOUT)
        except KafkaException as refused:
            if refused.args[0].code() != confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS:
                raise
    # The broker leads a new topic's partitions a moment after it acknowledged their creation.
    retrying = Retrying(
        retry=retry_if_exception_type(KafkaException),
        wait=wait_fixed(0.1),
        stop=stop_after_delay(TIMEOUT),
        reraise=True,
    )
    ends = {topic.name: retrying(log_ends, admin, topic.name) for topic in topics}
    for topic in topics:
        for partition in range(topic.partitions):
            feed.send(topic.name, partition, topic.backlog - ends[topic.name][partition])
    feed.flush()
