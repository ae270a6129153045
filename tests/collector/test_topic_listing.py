"""All topics of a cluster are published now and then, by one of its collectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.collector_lab import CLUSTER, Lab
from support.waiting import eventually
from warren.clock import ManualClock
from warren.contracts import TopicsEvent
from warren.contracts.topics import TOPICS
from warren.errors import ClusterUnreachable, PublishFailed
from warren.kafka.connection import connect
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME, ensure_topics
from warren_collector.logs.ends import LogEnds, TopicLog
from warren_collector.logs.listing import EVERY, TopicListing

NOW = 1_795_244_400_000


class Ends:
    def __init__(self) -> None:
        self.problem: Exception | None = None

    def read_all(self, accepts: Callable[[str], bool]) -> LogEnds:
        if self.problem:
            raise self.problem
        log = TopicLog(np.zeros(2, np.int64), np.array([7, -1], np.int64))
        return LogEnds({topic: log for topic in ("orders", "denied") if accepts(topic)})


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
def ends() -> Ends:
    return Ends()


@pytest.fixture
def bus() -> KeepingBus:
    return KeepingBus()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def listing(ends: Ends, bus: KeepingBus, clock: ManualClock) -> TopicListing:
    return TopicListing("prod", ends, bus, "w.", lambda topic: topic != "denied", clock)


def test_what_is_published(listing: TopicListing, bus: KeepingBus) -> None:
    assert listing.publish({0, 3})
    ((topic, key, value),) = bus.sent
    assert (topic, key) == ("w.topics", b"prod")
    assert TopicsEvent.from_bytes(value) == TopicsEvent(
        cluster="prod", observed_at=NOW, log_ends={"orders": [7, -1]}
    )


def test_every_thirty_seconds(listing: TopicListing, bus: KeepingBus, clock: ManualClock) -> None:
    assert listing.publish({0})
    clock.advance(EVERY - 0.1)
    assert not listing.publish({0})
    clock.advance(0.1)
    assert listing.publish({0})
    assert len(bus.sent) == 2


def test_one_collector_speaks_for_all(listing: TopicListing, bus: KeepingBus) -> None:
    assert not listing.publish({1, 2})
    assert bus.sent == []


@pytest.mark.parametrize("step", ["ends", "bus"])
def test_what_failed_is_tried_again(
    listing: TopicListing, ends: Ends, bus: KeepingBus, clock: ManualClock, step: str
) -> None:
    if step == "ends":
        ends.problem = ClusterUnreachable("prod", "clusters.prod.bootstrap", "away")
    else:
        bus.problem = PublishFailed("home", "home", "not acknowledged")
    assert not listing.publish({0})
    ends.problem = bus.problem = None
    clock.advance(EVERY)
    assert listing.publish({0})


@pytest.mark.integration
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
