"""A collector in this process on the tests' broker, and the events that it publishes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import confluent_kafka
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicPartition as Partition,
)
from confluent_kafka.admin import AdminClient, NewTopic
from support.not_yet import is_not_yet
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import (
    ClusterEvent,
    DeadLetter,
    GroupEvent,
    OffsetEvent,
    split_group_key,
)
from warren.settings import ClusterSettings, CollectorSettings, HomeSettings, Settings
from warren.settings_file import SettingsWatch
from warren_collector.service import Collector

CLUSTER = "prod"


@dataclass
class Lab:
    """Names of one test's own, on a broker that others use too."""

    bootstrap: str
    name: str
    admin: AdminClient
    producer: Producer
    closing: ExitStack

    @classmethod
    @contextmanager
    def on(cls, bootstrap: str, name: str) -> Iterator[Lab]:
        with ExitStack() as closing:
            yield cls(bootstrap, name, _admin(bootstrap), Producer(_options(bootstrap)), closing)

    @property
    def prefix(self) -> str:
        return f"{self.name}."

    def create_topic(self, name: str, partitions: int = 1) -> str:
        full = f"{self.name}-{name}"
        self.admin.create_topics([NewTopic(full, partitions, 1)])[full].result(30)
        return full

    def produce(
        self, topic: str, records: list[tuple[bytes | None, bytes | None]], partition: int = 0
    ) -> None:
        for key, value in records:
            self.producer.produce(topic, value, key, partition=partition)
        assert self.producer.flush(30) == 0

    def commit(self, group: str, positions: list[Partition]) -> None:
        """Commits by the Admin API, once the coordinator is there and knows the topics."""

        def is_committed() -> bool:
            request = [ConsumerGroupTopicPartitions(group, positions)]
            asked = self.admin.alter_consumer_group_offsets(request, request_timeout=10)
            try:
                answer = asked[group].result(30)
            except KafkaException as error:
                if is_not_yet(error):
                    # A client that has forgotten its brokers meanwhile never finds a coordinator
                    # again (librdkafka #5511).
                    self.admin = _admin(self.bootstrap)
                    return False
                raise
            return all(p.error is None for p in answer.topic_partitions or [])

        eventually(is_committed, timeout=120, message=f"{group} commits")

    def settings(self, offsets_topic: str = "__consumer_offsets", **cluster: object) -> Settings:
        """`cluster`: other settings of the monitored cluster."""
        return Settings(
            home=HomeSettings(bootstrap=self.bootstrap, topic_prefix=self.prefix, partitions=2),
            clusters={
                CLUSTER: ClusterSettings.model_validate(
                    {
                        "bootstrap": self.bootstrap,
                        "offsets_topic": offsets_topic,
                        "groups_allow": [self.name],
                        **cluster,
                    }
                )
            },
            collector=CollectorSettings(group_id=f"warren-{self.name}", interval=0.2, heartbeat=1),
        )

    @contextmanager
    def collecting(
        self, settings: Settings, watch: SettingsWatch | None = None
    ) -> Iterator[Collector]:
        """A running collector; ready, if all its clusters can be reached."""
        collector = Collector(settings, SystemClock(), watch)
        failures: list[BaseException] = []

        def run() -> None:
            try:
                collector.run()
            except BaseException as error:  # noqa: BLE001  # asserted below
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield collector
        finally:
            collector.stop()
            thread.join(60)
        assert not thread.is_alive()
        assert not failures

    @contextmanager
    def ready(self, settings: Settings) -> Iterator[Collector]:
        with self.collecting(settings) as collector:
            eventually(lambda: collector.is_ready, message="the collector is ready")
            yield collector

    def events(self) -> Events:
        return Events(self, self.closing)


def _options(bootstrap: str) -> dict[str, Any]:
    return {"bootstrap.servers": bootstrap, "log_level": 0}


def _admin(bootstrap: str) -> AdminClient:
    return AdminClient(_options(bootstrap))


class Events:
    """All offset events of a test, in order; read as they come."""

    def __init__(self, lab: Lab, closing: ExitStack) -> None:
        self.all: list[OffsetEvent] = []
        self.keys: list[tuple[bytes | None, str]] = []
        """Key and group of each."""
        self.letters: list[DeadLetter] = []
        self.groups: dict[str, list[GroupEvent | None]] = {}
        """Of `warren.groups`, by group; None for a tombstone."""
        self.clusters: dict[bytes | None, ClusterEvent | None] = {}
        self._consumer = Consumer(
            {
                "bootstrap.servers": lab.bootstrap,
                "group.id": f"warren-{lab.name}-reader",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        closing.callback(self._consumer.close)
        self._consumer.assign(
            [
                Partition(f"{lab.prefix}{topic}", number, 0)
                for topic in ("offsets", "groups", "dead-letters", "clusters")
                for number in range(2)
            ]
        )

    def read(self) -> list[OffsetEvent]:
        """What has arrived until now, with what was there before."""
        for message in self._consumer.consume(1000, 0.1):
            error = message.error()
            if error is not None:
                assert error.code() == confluent_kafka.KafkaError.UNKNOWN_TOPIC_OR_PART
            elif (message.topic() or "").endswith("dead-letters"):
                self.letters.append(DeadLetter.from_bytes(message.value()))
            elif (message.topic() or "").endswith("groups"):
                value = message.value()
                event = None if value is None else GroupEvent.from_bytes(value)
                _, group = split_group_key(message.key())
                self.groups.setdefault(group, []).append(event)
            elif (message.topic() or "").endswith("clusters"):
                value = message.value()
                self.clusters[message.key()] = ClusterEvent.from_bytes(value) if value else None
            else:
                self.all.append(OffsetEvent.from_bytes(message.value()))
                self.keys.append((message.key(), self.all[-1].group))
        return self.all

    def cluster_states(self) -> dict[str, str]:
        """What the (only) collector says of its clusters."""
        return {event.cluster: event.state for event in self.clusters.values() if event}

    def problem(self, cluster: str) -> str:
        return next(e.problem for e in self.clusters.values() if e and e.cluster == cluster)

    def of(self, group: str) -> list[OffsetEvent]:
        return [event for event in self.all if event.group == group]

    def until(self, condition: Callable[[], object], message: str, timeout: float = 60) -> None:
        """Reads on until `condition` holds."""

        def look() -> bool:
            self.read()
            return bool(condition())

        eventually(look, timeout=timeout, message=message)

    def state(self, group: str) -> GroupEvent | None:
        """The newest group event; None when there is none, or the group is gone."""
        return self.groups.get(group, [None])[-1]

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """Newest committed offsets that the events tell of."""
        newest: dict[tuple[str, int], int] = {}
        for event in self.of(group):
            for topic, removed in event.removed.items():
                for partition in removed:
                    newest.pop((topic, partition), None)
            for topic, columns in event.topics.items():
                for partition, offset in zip(columns.partition, columns.committed, strict=True):
                    if offset >= 0:
                        newest[topic, partition] = offset
        return newest

    def commits(self, group: str) -> int:
        """Commits that the events of a group count, together."""
        return sum(
            sum(columns.commits) for event in self.of(group) for columns in event.topics.values()
        )
