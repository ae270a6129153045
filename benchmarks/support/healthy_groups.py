"""Healthy consumer groups of real clients, of many habits, on topics that somebody writes to."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition as Partition
from confluent_kafka.admin import AdminClient, NewTopic

PREFIX = "quiet-"
TOPICS = {"busy": 150.0, "steady": 15.0, "trickle": 0.5, "seldom": 0.01}
"""Records per second."""
PARTITIONS = 3
BACKLOG = 20_000  # records of `busy` before anybody reads
RECORD = b"x" * 300
MOST = 500  # records that one look takes
WRITE_EVERY = 0.05  # seconds
THREADS = 8


@dataclass(frozen=True, slots=True)
class Habit:
    """How a group works. Times in seconds."""

    name: str
    topic: str
    commits_every: float
    processing: float = 0.0
    """What it commits was read so long ago: it is never exactly at the end."""
    most_per_s: float = 10_000.0
    start: str = "latest"
    members: int = 1
    protocol: str = "classic"
    is_transactional: bool = False


HABITS = (
    Habit("fast", "busy", 0.1),
    Habit("second", "busy", 1, processing=0.3),
    Habit("usual", "busy", 5, protocol="consumer"),
    Habit("pair", "busy", 5, members=2, processing=0.5),
    Habit("slow", "busy", 5, processing=3),
    Habit("batch", "busy", 30, processing=6),
    Habit("rare", "busy", 60, processing=15),
    Habit("large batch", "busy", 180, processing=20),
    Habit("transactional", "busy", 2, is_transactional=True),
    Habit("catching up", "busy", 5, most_per_s=800, start="earliest"),
    Habit("transactional batch", "steady", 20, processing=5, is_transactional=True),
    Habit("steady", "steady", 5, protocol="consumer"),
    Habit("steady batch", "steady", 45, processing=10),
    Habit("trickle", "trickle", 5),
    Habit("trickle batch", "trickle", 30),
    Habit("seldom", "seldom", 5),
)


class Member:
    """One client: reads, and commits what it has processed."""

    def __init__(self, bootstrap: str, group: str, habit: Habit) -> None:
        self._habit = habit
        self._read: deque[tuple[float, dict[tuple[str, int], int]]] = deque()
        self._commit_at = time.monotonic() + random.uniform(0.2, 1) * habit.commits_every
        self._looked_at = time.monotonic()
        self._bootstrap = bootstrap
        self._group = group
        self._producer: Producer | None = None
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "group.protocol": habit.protocol,
                "auto.offset.reset": habit.start,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        self._consumer.subscribe([PREFIX + habit.topic], on_revoke=self._forget)

    def step(self) -> None:
        now = time.monotonic()
        allowed = min(int(self._habit.most_per_s * (now - self._looked_at)), MOST)
        if allowed:
            self._looked_at = now
            self._take(self._consumer.consume(allowed, 0), now)
        if now >= self._commit_at:
            self._commit_at = now + self._habit.commits_every
            self._commit(now)

    def another(self) -> Member:
        """One like it, that has done nothing yet."""
        return Member(self._bootstrap, self._group, self._habit)

    def close(self) -> None:
        self._consumer.close()

    def _take(self, messages: list[Any], now: float) -> None:
        read = {(m.topic(), m.partition()): m.offset() + 1 for m in messages if m.error() is None}
        if read:
            self._read.append((now, read))

    def _commit(self, now: float) -> None:
        done: dict[tuple[str, int], int] = {}
        while self._read and self._read[0][0] <= now - self._habit.processing:
            done |= self._read.popleft()[1]
        offsets = [Partition(topic, number, offset) for (topic, number), offset in done.items()]
        if not offsets:
            return
        if self._habit.is_transactional:
            self._commit_transaction(offsets)
        else:
            self._consumer.commit(offsets=offsets, asynchronous=True)

    def _commit_transaction(self, offsets: list[Partition]) -> None:
        if self._producer is None:
            options = {"bootstrap.servers": self._bootstrap, "transactional.id": self._group}
            self._producer = Producer({**options, "log_level": 0})
            self._producer.init_transactions(60)
        self._producer.begin_transaction()
        for offset in offsets:
            self._producer.produce(f"{PREFIX}results", f"up to {offset.offset}".encode())
        metadata = self._consumer.consumer_group_metadata()
        self._producer.send_offsets_to_transaction(offsets, metadata, 60)
        self._producer.commit_transaction(60)

    def _forget(self, _consumer: Consumer, _partitions: list[Partition]) -> None:
        self._read.clear()


class HealthyGroups:
    """Groups at work in a few threads, and producers for them, until `close`."""

    def __init__(self, bootstrap: str) -> None:
        self.names: list[str] = []
        """Of all that there are, oldest first."""
        self.started = 0
        self.longest_commit_s = 0.0
        """Of a client that commits all the time: as long as that, no group was well."""
        self.restarts = 0
        """Of members that could not go on."""
        self._bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._members: list[dict[str, list[Member]]] = [{} for _ in range(THREADS)]
        self._lock = [threading.Lock() for _ in range(THREADS)]
        self._stop = threading.Event()
        topics = [NewTopic(PREFIX + t, PARTITIONS, 1) for t in (*TOPICS, "results", "empty")]
        for created in self._admin.create_topics(topics).values():
            created.result(30)
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "log_level": 0})
        for _ in range(BACKLOG // 1000):
            for _ in range(1000):
                self._producer.produce(f"{PREFIX}busy", RECORD)
            self._producer.flush(30)
        work = [(self._work, (slot,)) for slot in range(THREADS)]
        self._threads = [threading.Thread(target=self._produce)]
        self._threads += [threading.Thread(target=self._watch)]
        self._threads += [threading.Thread(target=t, args=a) for t, a in work]
        for thread in self._threads:
            thread.start()

    def start(self, habit: Habit) -> None:
        name = f"{habit.name} {self.started}".replace(" ", "-")
        members = [Member(self._bootstrap, name, habit) for _ in range(habit.members)]
        slot = self.started % THREADS
        with self._lock[slot]:
            self._members[slot][name] = members
        self.names.append(name)
        self.started += 1

    def end(self, name: str) -> None:
        """The group leaves and is deleted, as one that is not needed any more."""
        for lock, members in zip(self._lock, self._members, strict=True):
            with lock:
                for member in members.pop(name, []):
                    member.close()
        self.names.remove(name)
        self._admin.delete_consumer_groups([name])[name].result(30)

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _produce(self) -> None:
        owed = dict.fromkeys(TOPICS, 0.0)
        last = time.monotonic()
        while not self._stop.wait(WRITE_EVERY):
            now = time.monotonic()
            for topic, rate in TOPICS.items():
                owed[topic] += rate * (now - last)
                for _ in range(int(owed[topic])):
                    self._producer.produce(PREFIX + topic, RECORD)
                owed[topic] %= 1
            last = now
            self._producer.poll(0)
        self._producer.flush(30)

    def _watch(self) -> None:
        """Commits, and waits for it, again and again: what holds it up holds up all groups."""
        options = {"bootstrap.servers": self._bootstrap, "group.id": "quiet-watch", "log_level": 0}
        consumer = Consumer(options)
        place, last = Partition(f"{PREFIX}empty", 0, 0), math.nan
        while not self._stop.wait(0.5):
            # No coordinator yet, or none at present: all other clients of librdkafka wait likewise.
            with contextlib.suppress(KafkaException):
                consumer.commit(offsets=[place], asynchronous=False)
                now = time.monotonic()
                self.longest_commit_s = max(self.longest_commit_s, now - last)
                last = now
        self.longest_commit_s = max(self.longest_commit_s, time.monotonic() - last)
        consumer.close()

    def _work(self, slot: int) -> None:
        members = self._members[slot]
        while not self._stop.wait(0.05):
            with self._lock[slot]:
                for running in members.values():
                    running[:] = map(self._step, running)
        for member in itertools.chain.from_iterable(members.values()):
            member.close()

    def _step(self, member: Member) -> Member:
        """The member after it; another one where it could not go on, as its operator would do."""
        try:
            member.step()
        except KafkaException:
            self.restarts += 1
            with contextlib.suppress(KafkaException):
                member.close()
            return member.another()
        return member
