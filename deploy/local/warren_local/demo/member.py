"""A consumer group's only member: a confluent-kafka consumer that commits by hand."""

import threading
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, KafkaException, TopicPartition
from warren.clock import Clock
from warren.kafka.connection import client_options
from warren.settings import KafkaConnection

SLICE = 0.2  # seconds after which a waiting member looks whether it shall stop
LOOK_EVERY = 0.02  # seconds between two looks at a log's end
_OPTIONS: dict[str, Any] = {
    "enable_auto_commit": False,
    "auto_offset_reset": "earliest",
    "queued_min_messages": 200,
}
# The shortest that brokers allow by default: a killed demo's members are gone quickly.
_CLASSIC: dict[str, Any] = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 2000}
_KIP848: dict[str, Any] = {"group_protocol": "consumer"}


class Leave(Exception):
    """The demo stops; raised out of a member's waits."""


class Member:
    """Knows the next offset of each of its partitions; `commit` commits those."""

    def __init__(
        self,
        cluster: str,
        setting: str,
        connection: KafkaConnection,
        *,
        group: str,
        topic: str,
        kip848: bool,
        clock: Clock,
        stop: threading.Event,
    ) -> None:
        options = {**_OPTIONS, **(_KIP848 if kip848 else _CLASSIC)}
        self._consumer = Consumer(
            client_options(
                cluster, setting, connection, client_id=f"{group}-1", group_id=group, **options
            )
        )
        self._topic = topic
        self._clock = clock
        self._stop = stop
        self.joined_at: dict[int, int] = {}
        self.next_offsets: dict[int, int] = {}

    def join(self) -> None:
        """Wait for partitions and learn where the group was (else: where the log starts)."""
        self._consumer.subscribe([self._topic])
        handed_out: dict[int, int] = {}
        while not (assigned := self._consumer.assignment()):
            self._leave_if_stopped()
            handed_out |= self._take(500, SLICE)
        for at in self._consumer.committed(assigned, timeout=10):
            known = at.offset if at.offset >= 0 else self.log_range(at.partition)[0]
            self.joined_at[at.partition] = known
        self.next_offsets = self.joined_at | handed_out

    def consume(self, seconds: float) -> None:
        """Take all records that come within so many seconds."""
        deadline = self._clock.monotonic() + seconds
        while (left := deadline - self._clock.monotonic()) > 0:
            self._leave_if_stopped()
            self.next_offsets |= self._take(500, min(left, SLICE))

    def pause(self, *partitions: int) -> None:
        """Get no more records of these partitions; those that came while joining do not count."""
        self._consumer.pause([TopicPartition(self._topic, p) for p in partitions])
        self.next_offsets |= {p: self.joined_at[p] for p in partitions}

    def take_one(self, partition: int, offset: int) -> None:
        """Read one record of a paused partition, wherever the group is."""
        at = TopicPartition(self._topic, partition, offset)
        self._consumer.resume([at])
        self._consumer.seek(at)
        while not self._take(1, SLICE):
            self._leave_if_stopped()
        self._consumer.pause([at])

    def await_record(self, partition: int) -> None:
        """Wait until the next record is produced."""
        end = self.log_range(partition)[1]
        while self.log_range(partition)[1] == end:
            if self._stop.wait(LOOK_EVERY):
                raise Leave

    def commit(self) -> None:
        """Commit the next offset of every partition; raises KafkaException."""
        offsets = [TopicPartition(self._topic, p, at) for p, at in self.next_offsets.items()]
        for done in self._consumer.commit(offsets=offsets, asynchronous=False) or ():
            if done.error is not None:
                raise KafkaException(done.error)

    def log_range(self, partition: int) -> tuple[int, int]:
        """Log start and log end offset, asked from the broker."""
        at = TopicPartition(self._topic, partition)
        low, high = self._consumer.get_watermark_offsets(at, timeout=10)
        return low, high

    def _take(self, most: int, seconds: float) -> dict[int, int]:
        """Next offset by partition after the records that come; raises KafkaException."""
        taken: dict[int, int] = {}
        for message in self._consumer.consume(most, seconds):
            if (error := message.error()) is not None:
                raise KafkaException(error)
            partition, offset = message.partition(), message.offset()
            if partition is not None and offset is not None:
                taken[partition] = offset + 1
        return taken

    def _leave_if_stopped(self) -> None:
        if self._stop.is_set():
            raise Leave

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._consumer.close()
