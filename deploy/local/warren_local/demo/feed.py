"""The demo's producer."""

from __future__ import annotations

import confluent_kafka
from confluent_kafka import KafkaException, Producer
from warren.kafka.connection import client_options
from warren.settings import KafkaConnection

TIMEOUT = 30.0  # seconds


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
            try:
                self._produce(topic, partition, value)
            except BufferError:  # the queue is full: let it drain
                self.flush()
                self._produce(topic, partition, value)
        self._producer.poll(0)
        self._raise_failure()

    def flush(self) -> None:
        """Wait until all are acknowledged; raises KafkaException when one is not."""
        left = self._producer.flush(TIMEOUT)
        self._raise_failure()
        if left:
            raise KafkaException(confluent_kafka.KafkaError(confluent_kafka.KafkaError._TIMED_OUT))

    def _produce(self, topic: str, partition: int, value: bytes) -> None:
        self._producer.produce(topic, value, partition=partition, on_delivery=self._delivered)

    def _delivered(
        self, error: confluent_kafka.KafkaError | None, _message: confluent_kafka.Message
    ) -> None:
        self._failure = self._failure or error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise KafkaException(self._failure)
