"""All topics of a cluster are published now and then, by one of its collectors."""

from collections.abc import Callable, Sequence
from uuid import UUID

import numpy as np
import pytest
from collector.played_bus import AWAY, PlayedBus
from confluent_kafka import KafkaError, KafkaException
from structlog.testing import capture_logs
from support.collector_lab import CLUSTER, Lab
from support.group_bench import ConsumerGroup, Description, GroupBench, owned
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.contracts import TOPICS, TopicsEvent
from warren.errors import ClusterUnreachable
from warren.kafka.connection import connect
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME, ensure_topics
from warren_collector.logs.ends import Int64s, LogEnds, TopicLog
from warren_collector.logs.watch import EVERY, KEPT, LogHistory, LogWatch, TopicListing

NOW = 1_795_244_400_000


ENDS = LogEnds({"orders": TopicLog(np.zeros(2, np.int64), np.array([7, -1], np.int64))})


@pytest.fixture
def bus() -> PlayedBus:
    return PlayedBus()


@pytest.fixture
def listing(bus: PlayedBus) -> TopicListing:
    return TopicListing("prod", bus, "w.", ManualClock(NOW))


def test_one_collector_speaks_for_all(listing: TopicListing, bus: PlayedBus) -> None:
    assert not listing.publish(ENDS, {1, 2})
    bus.flush()
    assert bus.acknowledged == []


def test_what_failed_is_told_and_tried_again_with_the_next_reading(
    listing: TopicListing, bus: PlayedBus
) -> None:
    bus.problem = AWAY
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
    reader = TopicReader(settings.home, [name])
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


def ends(*numbers: int) -> LogEnds:
    end = np.array(numbers, np.int64)
    return LogEnds({"orders": TopicLog(np.zeros_like(end), end)})


def known(history: LogHistory, *partitions: int) -> list[list[int]]:
    return history.of("orders", np.array(partitions, np.int64))


def test_the_newest_of_each_ten_seconds_is_kept() -> None:
    history = LogHistory()
    for second in range(0, 200, 5):
        history.add(ends(second, 7), NOW + second * 1000)
    assert known(history, 0, 1) == [[*range(105, 200, 10)], [7] * KEPT]


def test_unknown_ends_say_nothing_and_a_log_made_anew_has_no_past() -> None:
    history = LogHistory()
    history.add(ends(10, 20), NOW)
    history.add(ends(-1, 25), NOW + 10_000)
    history.add(ends(15, 3), NOW + 20_000)
    assert known(history, 0, 1) == [[10, 10, 15], [3]]


def test_partitions_may_be_added_and_topics_go() -> None:
    history = LogHistory()
    history.add(ends(1), NOW)
    history.add(ends(2, 5), NOW + 10_000)
    assert known(history, 1, 0, 9) == [[5], [1, 2], []]
    history.add(LogEnds(missing=frozenset({"orders"})), NOW + 20_000)
    assert known(history, 0) == [[]]


class Logs:
    """100 records a second, since NOW - 45 s."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.is_away = False
        self.readings = 0

    def read_all(self, accepts: Callable[[str], bool]) -> LogEnds:
        if self.is_away:
            raise ClusterUnreachable("prod", "clusters.prod.bootstrap", "away")
        self.readings += 1
        assert accepts("orders")
        return ends(self._end(self.clock.now_ms()))

    def read_past(
        self, accepts: Callable[[str], bool], times: Sequence[int]
    ) -> list[dict[str, Int64s]]:
        assert accepts("orders")
        return [{"orders": np.array([self._end(time)])} for time in times]

    @staticmethod
    def _end(time: int) -> int:
        return max((time - NOW) // 10 + 4500, -1)


def test_the_first_look_asks_for_the_past_and_each_ten_seconds_are_looked_at() -> None:
    clock = ManualClock(NOW)
    logs = Logs(clock)
    watch = LogWatch(logs, lambda _topic: True, clock)
    logs.is_away = True
    assert watch.look() is None
    assert len(watch.history) == 0
    logs.is_away = False
    watch.look()
    assert logs.readings == 0  # not before the next time
    clock.advance(EVERY)
    read = watch.look()
    assert read is not None
    assert read.topics["orders"].end.tolist() == [5500]
    assert known(watch.history, 0) == [[500, 1500, 2500, 3500, 4500, 5500]]
    for _ in range(4):
        clock.advance(EVERY / 2)
        watch.look()
    assert logs.readings == 3
    assert known(watch.history, 0)[0][-2:] == [6500, 7500]


# Names of topics that records have the ids of only.


def test_names_of_topics_are_asked_for_and_waited_for(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    unknown = UUID(int=99)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(unknown, 0)))
    assert at.look() == {}
    assert at.asked == [["orders"]]
    assert at.look() == {}  # the answer is not there yet, and nobody asks twice
    assert at.asked == [["orders"]]
    at.answers["orders"].set_result(Description(unknown))
    assert at.only().members[0].assignment == {"orders": [0]}


def test_a_topic_that_cannot_be_described_delays_nothing_for_long(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    gone = owned(UUID(int=99), 0)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, gone))
    at.look()
    at.answers["orders"].set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    assert at.only().members[0].assignment == {}
    at.fold(billing.current("m", 2, gone))
    at.look()
    assert len(at.asked) == 1
    at.clock.advance(31)
    at.fold(billing.current("m", 3, gone))
    assert at.look() == {}
    assert len(at.asked) == 2


def test_an_answer_that_never_comes_is_not_waited_for(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    """As librdkafka's may not that was asked for while it lost its brokers."""
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(UUID(int=99), 0)))
    assert at.look() == {}
    at.clock.advance(14)
    assert at.look() == {}
    at.clock.advance(1)
    assert at.only().members[0].assignment == {}
    at.clock.advance(15)
    at.fold(billing.current("m", 2, owned(UUID(int=99), 0)))
    at.look()
    assert len(at.asked) == 2


def test_negative_topic_ids(at: GroupBench, billing: ConsumerGroup) -> None:
    """The two halves of an id are signed where confluent-kafka has them."""
    topic_id = UUID(int=(2**63 + 1) << 64 | 2**63 + 2)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(topic_id, 3)))
    at.look()
    at.answers["orders"].set_result(Description(topic_id))
    assert at.only().members[0].assignment == {"orders": [3]}
