"""Whether Warren says what Kafka says: real consumers at work, compared again and again.

Groups of every protocol consume and commit for a few seconds, then pause; the groups, committed
offsets and log ends on `warren.offsets` must then be those that the Admin API returns. This goes on
for three minutes by default. Prints one JSON line; exit 1 when they did not agree.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    Producer,
)
from confluent_kafka import TopicPartition as Partition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from support.collector_process import running_collector
from support.measuring import kafka
from warren.contracts import OffsetEvent

TOPICS, PARTITIONS = 5, 8
WORK = 6.0  # seconds of consuming between two comparisons
AGREE_WITHIN = 60.0
OWN = "warren-"
TOPIC = "warren-bench.offsets"
Positions = dict[str, dict[tuple[str, int], int]]
Ends = dict[tuple[str, int], int]


@dataclass
class Told:
    """What the events say."""

    committed: Positions = field(default_factory=dict)
    ends: dict[str, Ends] = field(default_factory=dict)
    """By group: each event has its own."""

    def take(self, event: OffsetEvent) -> None:
        if event.deleted:
            self.committed.pop(event.group, None)
            self.ends.pop(event.group, None)
            return
        committed = self.committed.setdefault(event.group, {})
        ends = self.ends.setdefault(event.group, {})
        for topic, numbers in event.removed.items():
            for number in numbers:
                committed.pop((topic, number), None)
                ends.pop((topic, number), None)
        for topic, columns in event.topics.items():
            for number, offset, end in zip(
                columns.partition, columns.committed, columns.log_end, strict=True
            ):
                ends[topic, number] = end
                if offset >= 0:
                    committed[topic, number] = offset


class Workload:
    """Producers and consumers that really are."""

    def __init__(self, bootstrap: str, groups: int, closing: ExitStack) -> None:
        self._options: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0}
        self.admin = AdminClient(self._options)
        self.topics = [f"side-by-side-{time.time_ns()}-{number}" for number in range(TOPICS)]
        wanted = [NewTopic(topic, PARTITIONS, 1) for topic in self.topics]
        for created in self.admin.create_topics(wanted).values():
            created.result()
        self._producer = Producer(self._options)
        self._random = random.Random(5)
        self._consumers = [self._consumer(number) for number in range(groups)]
        for consumer in self._consumers:
            closing.callback(consumer.close)

    def work(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for _ in range(200):
                topic = self._random.choice(self.topics)
                self._producer.produce(topic, b"x", partition=self._random.randrange(PARTITIONS))
            self._producer.flush()
            for consumer in self._consumers:
                some = consumer.consume(self._random.randrange(1, 80), 0.02)
                if some and self._random.random() < 0.7:
                    consumer.commit(asynchronous=True)
        for consumer in self._consumers:
            consumer.poll(0)

    def _consumer(self, number: int) -> Consumer:
        consumer = Consumer(
            {
                **self._options,
                "group.id": f"side by side|{number}/ü-{self.topics[0]}",
                "group.protocol": "consumer" if number % 2 else "classic",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        consumer.subscribe(self._random.sample(self.topics, 2))
        return consumer


def asked(admin: AdminClient) -> tuple[Positions, Ends]:
    """What the Admin API says of all groups but Warren's own, and of the topics' ends."""
    listed = admin.list_consumer_groups(request_timeout=30).result()
    names = [g.group_id for g in listed.valid or [] if not g.group_id.startswith(OWN)]
    committed: Positions = {}
    for name in names:
        request = [ConsumerGroupTopicPartitions(name)]
        answer = admin.list_consumer_group_offsets(request)[name].result(30)
        found = {(p.topic, p.partition): p.offset for p in answer.topic_partitions or []}
        if found:
            committed[name] = found
    topics = {topic for positions in committed.values() for topic, _ in positions}
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # as confluent-kafka has it
    known = admin.list_topics(timeout=30).topics
    wanted = {Partition(t, p): latest for t in topics for p in known[t].partitions}
    answers = admin.list_offsets(wanted, isolation_level=IsolationLevel.READ_UNCOMMITTED)
    return committed, {(p.topic, p.partition): a.result(30).offset for p, a in answers.items()}


def differences(told: Told, committed: Positions, ends: Ends) -> list[str]:
    found = [f"group {name!r}" for name in told.committed.keys() ^ committed.keys()]
    for name in told.committed.keys() & committed.keys():
        if told.committed[name] != committed[name]:
            found.append(f"committed offsets of {name!r}")
        if any(ends.get(place) != end for place, end in told.ends[name].items()):
            found.append(f"log ends of {name!r}")
    return found


def main() -> None:
    arguments = _arguments()
    with kafka(arguments.bootstrap) as bootstrap, ExitStack() as closing:
        workload = Workload(bootstrap, arguments.groups, closing)
        workload.work(WORK)
        with running_collector(bootstrap, "__consumer_offsets") as collector:
            collector.until(collector.is_ready, "the collector is ready")
            events = closing.enter_context(_events(bootstrap))
            result = compare(workload, events, arguments.seconds)
    print(json.dumps(result))
    sys.exit(1 if result["differences"] else 0)


def compare(workload: Workload, events: Consumer, seconds: float) -> dict[str, Any]:
    told, rounds, positions, slowest = Told(), 0, 0, 0.0
    last: list[str] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until and not last:
        workload.work(WORK)
        paused = time.monotonic()
        last = ["nothing was compared"]
        while last and time.monotonic() - paused < AGREE_WITHIN:
            committed, ends = asked(workload.admin)
            _read(events, told)
            last = differences(told, committed, ends)
        slowest = max(slowest, time.monotonic() - paused)
        rounds += 1
        positions = sum(map(len, committed.values()))
    return {
        "benchmark": "side_by_side",
        "seconds": round(seconds),
        "comparisons": rounds,
        "groups": len(told.committed),
        "positions": positions,
        "slowest_agreement_s": round(slowest, 1),
        "differences": last,
    }


@contextmanager
def _events(bootstrap: str) -> Iterator[Consumer]:
    """A reader of `warren.offsets`, from its beginning."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": f"{OWN}bench", "enable.auto.commit": False}
    )
    partitions = consumer.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions
    consumer.assign([Partition(TOPIC, number, OFFSET_BEGINNING) for number in partitions])
    try:
        yield consumer
    finally:
        consumer.close()


def _read(events: Consumer, told: Told) -> None:
    while messages := events.consume(1000, 0.5):
        for message in messages:
            if message.error() is None:
                told.take(OffsetEvent.from_bytes(message.value()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=180, help="how long to compare")
    return parser.parse_args()


if __name__ == "__main__":
    main()
