"""Topics whose records' times are known."""

import random
import sys
import time
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SPACING_MS = 1000
_AT_ONCE = 10  # topics; creating thousands of partitions in one request takes a broker long


@dataclass(frozen=True, slots=True)
class RecordLoad:
    """`records` records in each of `partitions` partitions of each topic, a second apart."""

    count: int
    partitions: int
    records: int

    @property
    def topics(self) -> list[str]:
        return [f"warren-bench-records-{self.records}-{number}" for number in range(self.count)]

    @property
    def logs(self) -> int:
        """Partitions of all topics."""
        return self.count * self.partitions

    def append_time(self, offset: int) -> int:
        """Unix ms; of today's beginning, so that a topic from an earlier run of today fits."""
        return int(time.time()) // 86_400 * 86_400_000 + (offset - self.records) * SPACING_MS

    def ensure(self, bootstrap: str) -> None:
        """Creates and fills the topics unless they are full already."""
        admin = AdminClient({"bootstrap.servers": bootstrap})
        existing = admin.list_topics(timeout=30).topics
        stale = [topic for topic in self.topics if topic in existing]
        if len(stale) == self.count and self._is_filled(bootstrap):
            return
        for deleted in admin.delete_topics(stale).values() if stale else ():
            deleted.result()
        for start in range(0, self.count, _AT_ONCE):
            topics = [
                NewTopic(t, self.partitions, 1) for t in self.topics[start : start + _AT_ONCE]
            ]
            for created in admin.create_topics(topics, operation_timeout=60).values():
                created.result()
        print(f"loading {self.logs * self.records:,} records", file=sys.stderr)
        self._fill(bootstrap)
        if not self._is_filled(bootstrap):
            sys.exit("topics could not be filled")

    def _is_filled(self, bootstrap: str) -> bool:
        """Judged by one partition of the last topic, which is filled last."""
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "warren-bench-ends",
                "enable.auto.commit": False,
            }
        )
        consumer.assign([TopicPartition(self.topics[-1], self.partitions - 1, self.records - 1)])
        message = consumer.poll(10)
        consumer.close()
        return message is not None and message.timestamp()[1] == self.append_time(self.records - 1)

    def _fill(self, bootstrap: str) -> None:
        values = random.Random(self.records)  # bytes that no codec makes smaller
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 3,
                "enable.idempotence": True,  # else a retry changes the offsets
                "linger.ms": 100,
                "batch.size": 16 * 2**10,  # the default of Kafka's own producer
                "queue.buffering.max.messages": 1_000_000,
                "compression.type": "lz4",
            }
        )
        for topic in self.topics:
            for partition in range(self.partitions):
                for offset in range(self.records):
                    self._produce(producer, topic, partition, offset, values.randbytes(100))
            producer.flush()

    def _produce(
        self, producer: Producer, topic: str, partition: int, offset: int, value: bytes
    ) -> None:
        while True:
            try:
                producer.produce(
                    topic, value, partition=partition, timestamp=self.append_time(offset)
                )
                return
            except BufferError:
                producer.poll(0.05)
