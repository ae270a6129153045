"""The service in this process, and what goes in and comes out of it."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Message, TopicPartition
from confluent_kafka.admin import AdminClient
from freshness.events import CLUSTER, GROUP
from freshness.timed_logs import TimedLogs
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import (
    DEAD_LETTERS,
    FRESHNESS,
    OFFSETS,
    DeadLetter,
    FreshnessEvent,
    OffsetEvent,
    Topic,
    group_key,
)
from warren.kafka.connection import connect
from warren.kafka.producer import EventProducer
from warren.kafka.topics import ensure_topics
from warren.settings import (
    ClusterSettings,
    CollectorSettings,
    FreshnessSettings,
    HomeSettings,
    RedisSettings,
    Settings,
)
from warren_freshness.service import FreshnessService, build_service

HOME_PARTITIONS = 2


@dataclass
class Outcome:
    """What the newest record of a group on warren.freshness says: None is a tombstone."""

    event: FreshnessEvent | None


class ServiceLab:
    """Topics of one test's own; the monitored cluster is the home cluster."""

    def __init__(self, logs: TimedLogs, redis_url: str) -> None:
        self.settings = Settings(
            home=HomeSettings(
                bootstrap=logs.bootstrap,
                topic_prefix=f"{logs.name}.warren.",
                partitions=HOME_PARTITIONS,
            ),
            clusters={CLUSTER: ClusterSettings(bootstrap=logs.bootstrap)},
            redis=RedisSettings.model_validate({"url": redis_url}),
            collector=CollectorSettings(heartbeat=20),
            freshness=FreshnessSettings(group_id=f"warren-{logs.name}", interval=0.3),
        )
        self.admin: AdminClient = connect("home", "home", self.settings.home)
        ensure_topics(self.admin, self.settings.home)
        self._producer = EventProducer(self.settings.home)

    def name(self, topic: Topic) -> str:
        return topic.full_name(self.settings.home.topic_prefix)

    def publish(self, *events: OffsetEvent) -> None:
        for event in events:
            key = group_key(event.cluster, event.group)
            self._producer.send(self.name(OFFSETS), key, event.to_bytes())
        self._producer.flush()

    def publish_bytes(self, key: bytes, value: bytes | None) -> None:
        self._producer.send(self.name(OFFSETS), key, value)
        self._producer.flush()

    @contextmanager
    def running(self, settings: Settings | None = None) -> Iterator[FreshnessService]:
        """A service that works until the block ends; an error of its own ends the test."""
        started: list[tuple[FreshnessService, asyncio.AbstractEventLoop, asyncio.Event]] = []

        async def work() -> None:
            service, stop = build_service(settings or self.settings, SystemClock()), asyncio.Event()
            started.append((service, asyncio.get_running_loop(), stop))
            await service.run(stop)

        with ThreadPoolExecutor(1) as thread:
            working = thread.submit(lambda: asyncio.run(work()))
            eventually(lambda: started or working.done(), message="the service is started")
            if not started:
                working.result()
            service, loop, stop = started[0]
            try:
                yield service
            finally:
                if not working.done():
                    loop.call_soon_threadsafe(stop.set)
                working.result(30)

    def await_figures(
        self, condition: Callable[[FreshnessEvent], bool], group: str = GROUP, message: str = ""
    ) -> FreshnessEvent:
        """The newest event of a group, once it is as wanted."""

        def found() -> FreshnessEvent | None:
            outcome = self.newest().get(group)
            event = None if outcome is None else outcome.event
            return event if event is not None and condition(event) else None

        event = eventually(found, message=message or f"figures of {group}")
        assert event is not None
        return event

    def await_tombstone(self, group: str = GROUP) -> None:
        eventually(lambda: self.newest().get(group) == Outcome(None), message=f"{group} is deleted")

    def newest(self) -> dict[str, Outcome]:
        """By group, of the clusters' names nothing is said."""
        outcomes = {}
        for message in self._read(FRESHNESS):
            group = (message.key() or b"").decode().partition("|")[2]
            value = message.value()
            outcomes[group] = Outcome(None if value is None else FreshnessEvent.from_bytes(value))
        return outcomes

    def dead_letters(self) -> list[DeadLetter]:
        return [DeadLetter.from_bytes(message.value()) for message in self._read(DEAD_LETTERS)]

    def committed(self) -> int:
        """Sum of the positions of the service's own group."""
        places = [TopicPartition(self.name(OFFSETS), p) for p in range(HOME_PARTITIONS)]
        group = self.settings.freshness.group_id
        request = [ConsumerGroupTopicPartitions(group, places)]
        answer = self.admin.list_consumer_group_offsets(request)[group].result(30)
        return sum(max(place.offset, 0) for place in answer.topic_partitions or [])

    def _read(self, topic: Topic) -> list[Message]:
        """Everything that is on a topic."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.settings.home.bootstrap,
                "group.id": "warren-test",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,
            }
        )
        consumer.assign([TopicPartition(self.name(topic), p, 0) for p in range(HOME_PARTITIONS)])
        messages: list[Message] = []
        at_end: set[int] = set()
        while len(at_end) < HOME_PARTITIONS:
            message = consumer.poll(30)
            assert message is not None, f"{topic.name} cannot be read"
            if message.error() is None:
                messages.append(message)
            else:
                at_end.add(message.partition() or 0)
        consumer.close()
        return messages
