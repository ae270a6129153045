"""Topics of one test on a real broker, with records whose times are known."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.manual_clock import ManualClock
from support.not_yet import is_not_yet
from support.topic_configuration import configure
from support.waiting import eventually

# Clients may outlive the broker of their test.
QUIET = {"log_level": 0}
TIMEOUT = 30.0
MINUTE = 60_000


@dataclass
class TimedLogs:
    """Creates and fills topics, and says what a plain consumer finds in them."""

    bootstrap: str
    name: str
    options: dict[str, str] = field(default_factory=dict)
    """More librdkafka properties of the clients."""

    @cached_property
    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap, **QUIET, **self.options})

    def topic(self, name: str = "orders", partitions: int = 1, **config: str) -> str:
        """Creates a topic; configuration names are written with `_` for `.`."""
        full = f"{self.name}-{name}"
        dotted = {key.replace("_", "."): value for key, value in config.items()}
        new = NewTopic(full, partitions, 1, config=dotted)
        self.admin.create_topics([new])[full].result(TIMEOUT)
        for partition in range(partitions):
            self.range(full, partition)
        return full

    def configure(self, topic: str, **config: str) -> None:
        """Changes its configuration; names as in `topic`."""
        dotted = {key.replace("_", "."): value for key, value in config.items()}
        configure(self.admin, topic, dotted)

    def delete(self, topic: str) -> None:
        """Returns when every broker knows: one that does not would take records for the old log."""
        self.admin.delete_topics([topic])[topic].result(TIMEOUT)
        for broker in self.bootstrap.split(","):
            admin = AdminClient({"bootstrap.servers": broker, **QUIET, **self.options})
            eventually(partial(_lacks, admin, topic), message=f"{topic} is gone at {broker}")

    def produce(
        self,
        topic: str,
        times: Sequence[int],
        partition: int = 0,
        *,
        codec: str = "none",
        size: int = 20,
        keys: Sequence[str] | None = None,
    ) -> None:
        """One record per time, in as few batches as the client likes; `keys`: all or none."""
        producer = self._producer(compression_codec=codec, linger_ms="50")
        self._send(producer, topic, times, partition, size, keys)

    def produce_alone(
        self, topic: str, times: Sequence[int], partition: int = 0, *, size: int
    ) -> None:
        """One record per time, each in a batch of its own of about `size` bytes."""
        producer = self._producer(batch_num_messages="1", message_max_bytes="8000000")
        self._send(producer, topic, times, partition, size)

    def transaction(
        self,
        topic: str,
        times: Sequence[int],
        partition: int = 0,
        *,
        commit: bool,
        keys: Sequence[str] | None = None,
    ) -> None:
        with self.open_transaction(topic, times, partition, keys=keys) as end:
            end(commit)

    @contextmanager
    def open_transaction(
        self,
        topic: str,
        times: Sequence[int],
        partition: int = 0,
        *,
        keys: Sequence[str] | None = None,
        name: str = "",
    ) -> Iterator[Callable[[bool], None]]:
        """Records that are neither committed nor aborted yet; `name` where there are more.

        What is yielded commits (true) or aborts, and returns when the marker is in the log:
        brokers answer before it is.
        """
        producer = self._producer(transactional_id=f"{self.name}-{topic}-{partition}{name}")
        producer.init_transactions(TIMEOUT)
        producer.begin_transaction()
        self._send(producer, topic, times, partition, 20, keys)

        def end(commit: bool) -> None:
            before = self.range(topic, partition)[1]
            (producer.commit_transaction if commit else producer.abort_transaction)(TIMEOUT)
            eventually(
                lambda: self.range(topic, partition)[1] > before,
                message=f"the transaction's marker is in {topic}",
            )

        yield end

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        place = TopicPartition(topic, partition, before)
        self.admin.delete_records([place])[place].result(TIMEOUT)

    def range(self, topic: str, partition: int = 0) -> tuple[int, int]:
        """Log start and log end (high watermark)."""
        found = eventually(lambda: self._ends(topic, partition), message=f"ends of {topic}")
        assert found is not None
        return found

    def times(self, topic: str, partition: int = 0) -> dict[int, int]:
        """What a consumer that reads committed records sees: {offset: timestamp}."""
        consumer = self._consumer()
        start, _ = self.range(topic, partition)
        consumer.assign([TopicPartition(topic, partition, start)])
        found: dict[int, int] = {}

        def at_end() -> bool:
            for message in consumer.consume(1000, 0.5):
                if message.error() is not None:
                    return True  # the end of the partition
                found[message.offset() or 0] = message.timestamp()[1]
            return False

        eventually(at_end, message=f"end of {topic}")
        consumer.close()
        return found

    def _send(
        self,
        producer: Producer,
        topic: str,
        times: Sequence[int],
        partition: int,
        size: int,
        keys: Sequence[str] | None = None,
    ) -> None:
        for time, key in zip(times, keys or [None] * len(times), strict=True):
            producer.produce(topic, b"x" * size, key, partition=partition, timestamp=time)
        assert producer.flush(TIMEOUT) == 0

    def _producer(self, **options: str) -> Producer:
        dotted = {key.replace("_", "."): value for key, value in options.items()}
        return Producer({"bootstrap.servers": self.bootstrap, **QUIET, **self.options, **dotted})

    def _consumer(self, **options: str) -> Consumer:
        dotted = {key.replace("_", "."): value for key, value in options.items()}
        return Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": f"{self.name}-reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                **self.options,
                **dotted,
            }
        )

    def _ends(self, topic: str, partition: int) -> tuple[int, int] | None:
        consumer = self._consumer(isolation_level="read_uncommitted")
        try:
            found: tuple[int, int] | None = consumer.get_watermark_offsets(
                TopicPartition(topic, partition), timeout=TIMEOUT
            )
            return found
        except KafkaException as error:
            if is_not_yet(error):
                return None
            raise
        finally:
            consumer.close()


def _lacks(admin: AdminClient, topic: str) -> bool:
    return topic not in admin.list_topics(timeout=TIMEOUT).topics


def minutely(clock: ManualClock, count: int) -> list[int]:
    """Append times: `count`, …, two, one minutes ago."""
    return [clock.now_ms() - (count - n) * MINUTE for n in range(count)]
