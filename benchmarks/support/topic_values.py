"""All values that stand on a topic, as Warren's readers meet them."""

import json
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition as Partition


def values(bootstrap: str, topic: str) -> list[dict[str, Any]]:
    """JSON values from the beginning to the end of now, partition by partition; no tombstones."""
    options = {"bootstrap.servers": bootstrap, "group.id": "warren-benchmarks", "log_level": 0}
    consumer = Consumer({**options, "enable.partition.eof": True, "enable.auto.commit": False})
    behind = set(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
    consumer.assign([Partition(topic, number, OFFSET_BEGINNING) for number in behind])
    found: list[dict[str, Any]] = []
    while behind:
        for message in consumer.consume(1000, 1.0):
            if message.error() is not None:
                behind.discard(message.partition())
            elif value := message.value():
                found.append(json.loads(value))
    consumer.close()
    return found
