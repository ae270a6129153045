"""Publishing of events: durable or an error, never silently lost."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import confluent_kafka
from confluent_kafka import KafkaException, Message, Producer

from warren.clock import Clock, SystemClock
from warren.contracts import MAX_MESSAGE_BYTES, Headers
from warren.errors import (
    AuthenticationFailed,
    ClientLost,
    MaybePublished,
    PublishFailed,
    RecordTooLarge,
)
from warren.kafka.connection import GRACE_SECONDS, log_retry, new_client
from warren.kafka.hearing import asking_client, hearing_by
from warren.kafka.topics import HOME
from warren.settings import KafkaConnection

PARTITIONER = -1  # librdkafka's RD_KAFKA_PARTITION_UA: the partitioner chooses

_UNANSWERED = frozenset(
    (
        confluent_kafka.KafkaError._MSG_TIMED_OUT,
        confluent_kafka.KafkaError._TIMED_OUT,
        confluent_kafka.KafkaError._TRANSPORT,
        confluent_kafka.KafkaError._ALL_BROKERS_DOWN,
        confluent_kafka.KafkaError.NETWORK_EXCEPTION,
        confluent_kafka.KafkaError.REQUEST_TIMED_OUT,
        confluent_kafka.KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    )
)
"""Codes after which a broker may have the record: a request that it has received cannot be taken
back, and a broker that hangs handles it when it goes on."""


class Bus(Protocol):
    """What publishing needs: EventProducer, or what a test has in its place."""

    def send(self, topic: str, key: bytes | None, value: bytes | None) -> None: ...

    def flush(self) -> None:
        """Raises PublishFailed when something was not acknowledged."""


class EventProducer:
    """Sends records to the home cluster and then waits for all: `send` … `send`, `flush`.

    The partitioner is Java's murmur2, so that Faust and Kafka Streams agree on where a key lives.
    """

    def __init__(
        self,
        home: KafkaConnection,
        delivery_timeout: float = 30,
        clock: Clock | None = None,
    ) -> None:
        self._failed: confluent_kafka.KafkaError | None = None
        self._home = home
        self._delivery_timeout_ms = round(delivery_timeout * 1000)
        self._producer = self._connected()
        self._sent_to = ""
        """The topic of the newest record since the last `flush`."""
        self._hearing = hearing_by(
            lambda timeout: asking_client(self._producer, self._sent_to)(timeout),
            HOME,
            HOME,
            home,
            clock or SystemClock(),
        )

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Headers = (),
        partition: int = PARTITIONER,
    ) -> None:
        """Queues a record; blocks while the queue is full (back-pressure, nothing is dropped).

        Raises PublishFailed for what can never be sent, and when a full queue is not acknowledged.
        """
        self._sent_to = topic
        with self._refusals():
            while True:
                try:
                    self._producer.produce(
                        topic,
                        value=value,
                        key=key,
                        headers=list(headers),
                        partition=partition,
                        on_delivery=self._delivered,
                    )
                    return
                except BufferError:
                    self._producer.poll(0.1)
                    if self._failed is not None:  # the others wait as long in vain
                        self.flush()

    def flush(self) -> None:
        """Waits until every queued record is acknowledged.

        Raises PublishFailed when one was not; the caller repeats its work.
        """
        with self._refusals():
            left = self._producer.flush(self._delivery_timeout_ms / 1000 + GRACE_SECONDS)
        failed, self._failed = self._failed, None
        if left:  # beyond its own timeout: it will not end any more
            failed = confluent_kafka.KafkaError(confluent_kafka.KafkaError._TIMED_OUT)
            self._begin_anew()
        self._follow(failed)
        if failed is not None:
            raise self._error(failed)

    def _follow(self, failed: confluent_kafka.KafkaError | None) -> None:
        """One that has lost all brokers for good is made anew; all that it had has failed."""
        if not self._sent_to:
            return
        try:
            self._hearing.follow(heard=failed is None)
        except ClientLost as lost:
            log_retry(lost)
            self._begin_anew()
        self._sent_to = ""

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except KafkaException as error:
            cause: confluent_kafka.KafkaError = error.args[0]
            if cause.fatal() or cause.code() == confluent_kafka.KafkaError._FATAL:
                self._begin_anew()
            raise self._error(cause) from None

    def _begin_anew(self) -> None:
        """After a fatal error, a missing right for example, a producer never sends anything again.

        What it had queued has failed, so that its sender repeats it.
        """
        with suppress(KafkaException):  # it may say once more what has happened
            self._producer.flush(0)
        with suppress(AuthenticationFailed):  # files that are half written: the next time
            self._producer = self._connected()
        self._failed = None

    def _connected(self) -> Producer:
        """A producer with the credentials of now."""
        return new_client(
            Producer,
            HOME,
            HOME,
            self._home,
            acks="all",
            enable_idempotence=True,
            compression_type="lz4",
            partitioner="murmur2_random",
            message_max_bytes=MAX_MESSAGE_BYTES,
            linger_ms=5,
            delivery_timeout_ms=self._delivery_timeout_ms,
        )

    def _delivered(self, error: confluent_kafka.KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failed = error

    def _error(self, error: confluent_kafka.KafkaError) -> PublishFailed:
        kind = PublishFailed
        if error.code() == confluent_kafka.KafkaError.MSG_SIZE_TOO_LARGE:
            kind = RecordTooLarge
        elif error.code() in _UNANSWERED:
            kind = MaybePublished
        return kind(HOME, HOME, f"not acknowledged: {error.str()}")
