"""All topics of a cluster are published now and then, by one of its collectors."""

from __future__ import annotations

import numpy as np
import pytest
from structlog.testing import capture_logs
from support.collector_lab import CLUSTER, Lab
from support.waiting import eventually
from warren.clock import ManualClock
from warren.contracts import TopicsEvent
from warren.contracts.topics import TOPICS
from warren.errors import PublishFailed
from warren.kafka.connection import connect
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME, ensure_topics
from warren_collector.logs.ends import LogEnds, TopicLog
from warren_collector.logs.listing import TopicListing

NOW = 1_795_244_400_000


ENDS = LogEnds({"orders": TopicLog(np.zeros(2, np.int64), np.array([7, -1], np.int64))})


class KeepingBus:
    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes | None, bytes | None]] = []
        self.problem: Exception | None = None

    def send(self, topic: str, key: bytes | None, value: bytes | None) -> None:
        self.sent.append((topic, key, value))

    def flush(self) -> None:
        if self.problem:
            raise self.problem


@pytest.fixture
def bus() -> KeepingBus:
    return KeepingBus()


@pytest.fixture
def listing(bus: KeepingBus) -> TopicListing:
    return TopicListing("prod", bus, "w.", ManualClock(NOW))


def test_what_is_published(listing: TopicListing, bus: KeepingBus) -> None:
    assert listing.publish(ENDS, {0, 3})
    ((topic, key, value),) = bus.sent
    assert (topic, key) == ("w.topics", b"prod")
    assert TopicsEvent.from_bytes(value) == TopicsEvent(
        cluster="prod", observed_at=NOW, log_ends={"orders": [7, -1]}
    )


def test_nothing_when_nothing_was_read(listing: TopicListing, bus: KeepingBus) -> None:
    assert not listing.publish(None, {0})
    assert bus.sent == []


def test_one_collector_speaks_for_all(listing: TopicListing, bus: KeepingBus) -> None:
    assert not listing.publish(ENDS, {1, 2})
    assert bus.sent == []


def test_what_failed_is_told_and_tried_again_with_the_next_reading(
    listing: TopicListing, bus: KeepingBus
) -> None:
    bus.problem = PublishFailed("home", "home", "not acknowledged")
    with capture_logs() as logs:
        assert not listing.publish(ENDS, {0})
    assert [line["log_level"] for line in logs] == ["warning"]
    bus.problem = None
    assert listing.publish(ENDS, {0})


def test_of_a_real_cluster(lab: Lab) -> None:
    """Also topics that are empty, and those of Warren itself."""
    used, empty = lab.create_topic("used", 2), lab.create_topic("empty")
    lab.produce(used, [(None, b"x")] * 3, partition=1)
    settings = lab.settings()
    ensure_topics(connect(HOME, HOME, settings.home), settings.home)
    name = TOPICS.full_name(lab.prefix)
    reader = TopicReader(HOME, HOME, settings.home, [name])
    listed: list[TopicsEvent] = []

    def is_listed() -> bool:
        listed.extend(TopicsEvent.from_bytes(record.value()) for record in reader.poll(0.2))
        return bool(listed)

    with lab.ready(settings):
        eventually(is_listed, message="topics are listed")
    reader.close()
    (event, *_) = listed
    assert event.cluster == CLUSTER
    assert event.log_ends[used] == [0, 3]
    assert event.log_ends[empty] == [0]
    assert name in event.log_ends
