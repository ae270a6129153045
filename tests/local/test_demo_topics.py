"""The demo begins at once, on a broker that takes its time to lead new topics."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import warren_local.demo.workload as demo
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from conftest import Broker
from warren.clock import SystemClock
from warren.settings import KafkaConnection
from warren_local.demo.feed import Feed
from warren_local.demo.topics import DemoTopic, prepare_topics
from warren_local.demo.workload import Workload


class Leaderless(AdminClient):
    """Asked for offsets, it looks for the leaders where it has them from, as librdkafka does: those
    of a new topic are there once somebody asked for that topic.
    """

    def __init__(self, bootstrap: str) -> None:
        super().__init__({"bootstrap.servers": bootstrap})
        self.known: set[str | None] = set()

    def list_topics(self, topic: str | None = None, timeout: float = 30) -> Any:
        self.known.add(topic)
        return super().list_topics(topic, timeout=timeout)

    def list_offsets(self, wanted: dict[TopicPartition, Any], **more: Any) -> Any:
        if {place.topic for place in wanted} - self.known:
            raise KafkaException(KafkaError(KafkaError._NOENT, "No leaders found"))
        return super().list_offsets(wanted, **more)


def test_topics_are_filled_where_their_leaders_were_not_known(broker: Broker, unique: str) -> None:
    topics = [DemoTopic(f"{unique}-{name}", 4, 2) for name in ("one", "two")]
    feed = Feed("demo", "clusters.demo", KafkaConnection(bootstrap=broker.bootstrap))
    prepare_topics(Leaderless(broker.bootstrap), feed, topics)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique})
    places = [TopicPartition(topic.name, number) for topic in topics for number in range(4)]
    ends = [consumer.get_watermark_offsets(place, 30) for place in places]
    consumer.close()
    assert ends == [(0, 2)] * len(places)


def test_each_attempt_has_a_client_of_its_own(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a client has got wrong is not kept."""
    seen, stop = list[AdminClient](), threading.Event()

    def prepare(admin: AdminClient, _feed: Feed) -> None:
        seen.append(admin)
        if len(seen) == 2:
            stop.set()
        raise KafkaException(KafkaError(KafkaError._NOENT, "No leaders found"))

    monkeypatch.setattr(demo, "prepare_topics", prepare)
    monkeypatch.setattr(demo, "RETRY_AFTER", 0.0)
    connection = KafkaConnection(bootstrap=broker.bootstrap)
    Workload("demo", "clusters.demo", connection, SystemClock(), stop).run(None)
    assert len(set(map(id, seen))) == 2
