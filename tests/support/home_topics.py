"""What is on Warren's own topics of a running `warren up`, read from outside."""

import json
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition
from support.running import Running
from warren.kafka.topic_reader import TopicReader
from warren.settings import HomeSettings


def newest_freshness(warren: Running) -> dict[str, dict[str, Any]]:
    """The newest event of each group on warren.freshness."""
    home = HomeSettings(bootstrap=warren.run["home_kafka"])
    reader = TopicReader(home, ["warren.freshness"])
    events: dict[str, dict[str, Any]] = {}
    while not reader.caught_up:
        for record in reader.poll(0.5):
            event = json.loads(record.value() or b"{}")
            if event:
                events[event["group"]] = event
    reader.close()
    return events


def home_records(warren: Running, topic: str) -> list[Message]:
    """Everything on one of Warren's topics, by a plain consumer."""
    consumer = Consumer(
        {
            "bootstrap.servers": warren.run["home_kafka"],
            "group.id": "truth",
            "enable.partition.eof": True,
        }
    )
    behind = set(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in behind])
    ends = {
        number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=30)[1]
        for number in behind
    }
    records = []
    while behind:
        for message in consumer.consume(1000, 1.0):
            if message.error() is None:
                records.append(message)
            # An end that is written to all the time is never told of.
            if message.error() is not None or message.offset() + 1 >= ends[message.partition()]:
                behind.discard(message.partition())
    consumer.close()
    return records
