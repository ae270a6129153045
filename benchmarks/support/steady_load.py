"""Groups that all commit regularly, as the group coordinator writes it down."""

import multiprocessing
import random
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from support.commit_load import VALUE, group_name, string

RECORDS = 300  # of each partition; each turn commits two more
MEMBERS = 2  # of a group
_AT_ONCE = 10  # topics; creating thousands of partitions in one request takes a broker long


@dataclass(frozen=True, slots=True)
class SteadyLoad:
    """`groups` groups, each of which consumes one of `topics` topics of `partitions` partitions."""

    groups: int
    topics: int
    partitions: int
    every: float = 1  # seconds between two commits of a position
    offsets_partitions: int = 8

    @property
    def offsets_topic(self) -> str:
        return f"warren-bench-steady-{self.groups}-{self.topics}-{self.partitions}"

    @property
    def data_topics(self) -> list[str]:
        names = range(self.topics)
        return [f"warren-bench-steady-{self.partitions}-{number}" for number in names]

    @property
    def positions(self) -> int:
        return self.groups * self.partitions

    def ensure(self, bootstrap: str) -> None:
        """Creates the topics; the offsets topic anew."""
        admin = AdminClient({"bootstrap.servers": bootstrap})
        existing = admin.list_topics(timeout=30).topics
        if self.offsets_topic in existing:
            admin.delete_topics([self.offsets_topic])[self.offsets_topic].result()
        wanted = [NewTopic(t, self.partitions, 1) for t in self.data_topics if t not in existing]
        for start in range(0, len(wanted), _AT_ONCE):
            _create(admin, wanted[start : start + _AT_ONCE])
        self._fill(bootstrap, [topic.topic for topic in wanted])
        kept = {"retention.ms": "120000", "segment.bytes": str(64 * 2**20)}
        _create(admin, [NewTopic(self.offsets_topic, self.offsets_partitions, 1, config=kept)])
        while self.offsets_topic not in admin.list_topics(timeout=30).topics:
            time.sleep(0.2)  # brokers learn of it a moment after its creation was acknowledged

    def _fill(self, bootstrap: str, topics: list[str]) -> None:
        """What is committed must be there: nobody has consumed what was never written."""
        options = {"bootstrap.servers": bootstrap, "linger.ms": 50, "compression.type": "lz4"}
        producer = Producer({**options, "queue.buffering.max.messages": 1_000_000})
        for topic in topics:
            for partition in range(self.partitions):
                for _ in range(RECORDS):
                    producer.produce(topic, b"", partition=partition)
            producer.flush()

    @contextmanager
    def committing(self, bootstrap: str) -> Iterator[None]:
        """All groups commit, turn after turn, from a process of its own."""
        context = multiprocessing.get_context("spawn")
        stop = context.Event()
        committer = context.Process(target=self._commit, args=(bootstrap, stop))
        committer.start()
        try:
            yield
        finally:
            stop.set()
            committer.join(60)

    def keys(self) -> list[tuple[int, bytes]]:
        """Partition of the offsets topic and key of every position."""
        keys = []
        for number in range(self.groups):
            topic = self.data_topics[number % self.topics]
            start = struct.pack(">h", 1) + string(group_name(number)) + string(topic)
            of_group = number % self.offsets_partitions
            keys += [(of_group, start + struct.pack(">i", p)) for p in range(self.partitions)]
        return keys

    def _commit(self, bootstrap: str, stop: Event) -> None:
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "linger.ms": 20,
                "batch.size": 500_000,
                "compression.type": "lz4",
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        keys, turn, due = self.keys(), 0, time.monotonic()
        while not stop.is_set():
            at = now = time.time_ns() // 1_000_000
            for index, (partition, key) in enumerate(keys):
                # No two positions are alike, or lz4 would make nothing of them. What a member
                # commits at once has one time.
                if index % (self.partitions // MEMBERS) == 0:
                    at = now - random.randrange(1000)
                offset = min(index % 50 + 2 * turn + random.randrange(3), RECORDS)
                value = VALUE.pack(3, offset, -1, 0, at)
                producer.produce(self.offsets_topic, value, key, partition=partition)
                if index % 20_000 == 0:
                    producer.poll(0)
            producer.flush()
            turn += 1
            due += self.every
            stop.wait(max(due - time.monotonic(), 0))


def _create(admin: AdminClient, topics: list[NewTopic]) -> None:
    if topics:
        for created in admin.create_topics(topics, operation_timeout=60).values():
            created.result()
