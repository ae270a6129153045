"""Topics whose batches have one record and a known size."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

_OVERHEAD = 72  # bytes of a batch with one record beside its value


@dataclass(frozen=True, slots=True)
class BatchLoad:
    """`records` batches of `size` bytes in each of `partitions` partitions."""

    size: int
    partitions: int = 20
    records: int = 8

    @property
    def topic(self) -> str:
        return f"warren-bench-batches-{self.size}"

    def create(self, bootstrap: str) -> None:
        """Makes the topic anew and fills it."""
        admin = AdminClient({"bootstrap.servers": bootstrap})
        if self.topic in admin.list_topics(timeout=30).topics:
            admin.delete_topics([self.topic], operation_timeout=60)[self.topic].result()
        new = NewTopic(self.topic, self.partitions, 1, config={"max.message.bytes": "8000000"})
        admin.create_topics([new], operation_timeout=60)[self.topic].result()
        self._fill(bootstrap)

    def _fill(self, bootstrap: str) -> None:
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 3,
                "enable.idempotence": True,
                "batch.num.messages": 1,
                "message.max.bytes": 8_000_000,
            }
        )
        values = random.Random(self.size)
        now = int(time.time() * 1000)
        for partition in range(self.partitions):
            for offset in range(self.records):
                at = now - (self.records - offset) * 60_000
                value = values.randbytes(self.size - _OVERHEAD)
                producer.produce(self.topic, value, partition=partition, timestamp=at)
            producer.flush()
