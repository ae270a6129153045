"""The demo's topics, and the records that are in them before anybody consumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import confluent_kafka
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed
from warren.kafka.topics import log_ends

from warren_local.demo.feed import Feed

TIMEOUT = 30.0  # seconds
# Topics whose consumers keep up need no more than an hour of records.
_SHORT = {"retention.ms": "3600000", "segment.ms": "600000"}


@dataclass(frozen=True, slots=True)
class DemoTopic:
    """`backlog` records are in each partition from the start."""

    name: str
    partitions: int
    backlog: int
    config: Mapping[str, str] = field(default_factory=dict)


ORDERS = DemoTopic("demo.orders", 4, 0, _SHORT)
PAYMENTS = DemoTopic("demo.payments", 1, 1_000)
INVOICES = DemoTopic("demo.invoices", 1, 500)
# One step back per commit lasts for more than a day.
CLICKS = DemoTopic("demo.clicks", 1, 100_000)
AUDIT = DemoTopic("demo.audit", 2, 50)
SHIPMENTS = DemoTopic("demo.shipments", 12, 20, _SHORT)
# A segment is deleted a minute after its newest record: somebody will lose what they did not read.
SENSORS = DemoTopic("demo.sensors", 1, 50, {"retention.ms": "60000", "segment.ms": "10000"})

TOPICS = (ORDERS, PAYMENTS, INVOICES, CLICKS, AUDIT, SHIPMENTS, SENSORS)


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
