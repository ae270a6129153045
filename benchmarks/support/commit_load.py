"""A topic full of offset commits and records about groups, as the group coordinator writes them."""

import itertools
import multiprocessing
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition as Partition
from confluent_kafka.admin import AdminClient, NewTopic
from support.group_load import group_records

PER_GROUP = 100  # positions: the partitions of one topic
DATA_TOPICS = 10
STEP = 10  # records between two commits of a position
VALUE = struct.Struct(">hqihq")  # version 3: offset, leader epoch, no metadata, timestamp


@dataclass(frozen=True, slots=True)
class CommitLoad:
    """`commits` commits, round after round over `positions` positions.

    Between them, one record in `1 / group_share` is about a group.
    """

    commits: int
    positions: int
    partitions: int = 8
    group_share: float = 0.0

    @property
    def topic(self) -> str:
        groups = f"-{self.group_share:g}-groups" if self.group_share else ""
        return f"warren-bench-{self.commits}-commits-{self.positions}-positions{groups}"

    @property
    def group_records(self) -> int:
        """Records about groups."""
        return round(self.commits * self.group_share / (1 - self.group_share))

    @property
    def records(self) -> int:
        return self.commits + self.group_records

    @property
    def data_topics(self) -> list[str]:
        return [f"warren-bench-data-{number}" for number in range(DATA_TOPICS)]

    def ensure(self, bootstrap: str) -> list[int]:
        """Creates and fills the topic unless it is full already; end offset by partition."""
        admin = AdminClient({"bootstrap.servers": bootstrap})
        existing = admin.list_topics(timeout=30).topics
        if self.topic in existing and sum(ends := self._ends(bootstrap)) == self.records:
            return ends
        if self.topic in existing:  # an earlier run was interrupted
            admin.delete_topics([self.topic])[self.topic].result()
        _create(admin, [NewTopic(self.topic, self.partitions, 1)])
        # In a process of its own: its memory is not the collector's.
        loader = multiprocessing.get_context("spawn").Process(target=self._fill, args=(bootstrap,))
        loader.start()
        loader.join()
        if sum(ends := self._ends(bootstrap)) != self.records:
            raise SystemExit(f"{self.topic} could not be filled: {sum(ends)} of {self.records}")
        return ends

    def ensure_data_topics(self, bootstrap: str) -> None:
        """The topics that the commits are about: Burrow ignores commits to unknown topics."""
        admin = AdminClient({"bootstrap.servers": bootstrap})
        existing = admin.list_topics(timeout=30).topics
        missing = [name for name in self.data_topics if name not in existing]
        _create(admin, [NewTopic(name, PER_GROUP, 1) for name in missing])

    def newest(self) -> dict[str, dict[int, int]]:
        """Newest committed offset by group and partition."""
        newest: dict[str, dict[int, int]] = {}
        for position in range(min(self.positions, self.commits)):
            number, partition = divmod(position, PER_GROUP)
            last_turn = (self.commits - 1 - position) // self.positions
            newest.setdefault(group_name(number), {})[partition] = last_turn * STEP
        return newest

    def _ends(self, bootstrap: str) -> list[int]:
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "warren-bench-ends"})
        try:
            return [
                consumer.get_watermark_offsets(Partition(self.topic, number), timeout=30)[1]
                for number in range(self.partitions)
            ]
        finally:
            consumer.close()

    def _keys(self) -> list[tuple[int, bytes]]:
        """Partition of the offsets topic and key of every position."""
        keys = []
        for position in range(self.positions):
            number, partition = divmod(position, PER_GROUP)
            topic = self.data_topics[number % DATA_TOPICS]
            key = struct.pack(">h", 1) + string(group_name(number)) + string(topic)
            keys.append((number % self.partitions, key + struct.pack(">i", partition)))
        return keys

    def _fill(self, bootstrap: str) -> None:
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "linger.ms": 20,
                "batch.size": 500_000,
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        keys, now = self._keys(), time.time_ns() // 1_000_000
        of_groups = self._group_records()
        written = 0
        for number in range(self.commits):
            turn, index = divmod(number, self.positions)
            partition, key = keys[index]
            value = VALUE.pack(3, turn * STEP, -1, 0, now + turn * 1000)
            self._produce(producer, partition, key, value)
            while written < self.group_records * (number + 1) // self.commits:
                self._produce(producer, *next(of_groups))
                written += 1
            if number % 20_000 == 0:
                producer.poll(0)
            if number % 500_000 == 0:
                print(f"loading {self.topic}: {number:,}", file=sys.stderr)
        producer.flush()

    def _produce(self, producer: Producer, partition: int, key: bytes, value: bytes | None) -> None:
        while True:
            try:
                producer.produce(self.topic, value, key, partition=partition)
                return
            except BufferError:
                producer.poll(0.05)

    def _group_records(self) -> Iterator[tuple[int, bytes, bytes | None]]:
        """Partition, key and value: one rebalance of one group after the other, for ever."""
        numbers = range(max(self.positions // PER_GROUP, 1))
        rebalances = [
            group_records(group_name(number), self.data_topics[number % DATA_TOPICS], PER_GROUP)
            for number in numbers
        ]
        for number in itertools.cycle(numbers):
            for key, value in next(rebalances[number]):
                yield number % self.partitions, key, value


def _create(admin: AdminClient, topics: list[NewTopic]) -> None:
    if topics:
        for created in admin.create_topics(topics, operation_timeout=60).values():
            created.result()


def group_name(number: int) -> str:
    return f"group-{number:05d}"


def string(text: str) -> bytes:
    content = text.encode()
    return struct.pack(">h", len(content)) + content
