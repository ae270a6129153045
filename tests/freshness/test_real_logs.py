"""Passes over a real broker's logs, compared with what a plain consumer reads."""

from __future__ import annotations

from typing import get_args

import pytest
from freshness.events import CLUSTER, GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from warren.clock import ManualClock
from warren.metrics.freshness import FRESHNESS
from warren_freshness.log_position import ReadOutcome

HOUR = 60 * MINUTE
DAY = 24 * HOUR


@pytest.fixture
def reads() -> ReadCounter:
    return ReadCounter()


class ReadCounter:
    """Reads from the cluster, by outcome, since they were last asked for."""

    def __init__(self) -> None:
        self._seen = {outcome: self._total(outcome) for outcome in get_args(ReadOutcome)}

    def since(self, outcome: ReadOutcome) -> int:
        seen, self._seen[outcome] = self._seen[outcome], self._total(outcome)
        return self._seen[outcome] - seen

    def _total(self, outcome: str) -> int:
        labels = {"cluster": CLUSTER, "outcome": outcome}
        return int(FRESHNESS.get_sample_value("warren_freshness_reads_total", labels) or 0)


def test_steady(logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster) -> None:
    topic = logs.topic(partitions=3, retention_ms=str(2 * HOUR))
    for partition in range(3):
        logs.produce(topic, minutely(clock, 10), partition)
    event = cluster.measure_one(topic, [7, 0, 10])
    found = columns(event)
    assert found.reason == ["exact", "exact", "caught_up"]
    assert found.freshness_ms == [3 * MINUTE, 10 * MINUTE, 0]
    assert found.bound_ms == [0, 0, 0]
    assert found.oldest_at[:2] == [logs.times(topic, 0)[7], logs.times(topic, 1)[0]]
    assert found.time_to_loss_ms == [117 * MINUTE, 110 * MINUTE, None]
    assert found.commit_lag_ms == [4 * MINUTE, None, MINUTE]
    assert found.append_lag_ms == [3 * MINUTE, None, 0]
    assert (event.freshness_ms, event.time_to_loss_ms) == (10 * MINUTE, 110 * MINUTE)


def test_trickle_and_a_producer_that_stopped(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """The value grows with time alone, and falls when the group moves on."""
    topic = logs.topic()
    first = clock.now_ms() - 20 * HOUR
    for hours in (0, 5, 19):  # a batch each
        logs.produce(topic, [first + hours * HOUR])
    assert columns(cluster.measure_one(topic, [1])).freshness_ms == [15 * HOUR]
    clock.advance(60)
    assert columns(cluster.measure()[GROUP]).freshness_ms == [15 * HOUR + MINUTE]
    found = columns(cluster.measure_one(topic, [2]))
    assert found.freshness_ms == [HOUR + MINUTE]
    assert found.append_lag_ms == [14 * HOUR]
    assert columns(cluster.measure_one(topic, [3])).freshness_ms == [0]


def test_a_caught_up_group_is_as_fresh_as_the_log_end_that_was_seen(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 2))
    cluster.commit(topic, [2])
    clock.advance(7)
    found = columns(cluster.measure()[GROUP])
    assert (found.freshness_ms, found.bound_ms) == ([0], [7000])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("size", [20, 30_000])
def test_codecs_and_batch_sizes(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, codec: str, size: int
) -> None:
    topic = logs.topic(partitions=3)
    for partition in range(3):
        logs.produce(topic, minutely(clock, 40), partition, codec=codec, size=size)
    found = columns(cluster.measure_one(topic, [0, 20, 39]))
    assert found.reason == ["exact"] * 3
    assert found.freshness_ms == [40 * MINUTE, 20 * MINUTE, MINUTE]
    assert found.commit_lag_ms == [None, 21 * MINUTE, 2 * MINUTE]


def test_log_append_time(logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster) -> None:
    topic = logs.topic(message_timestamp_type="LogAppendTime")
    logs.produce(topic, [clock.now_ms() - DAY] * 3)
    logs.produce(topic, [clock.now_ms() - DAY] * 3)
    times = logs.times(topic)
    assert min(times.values()) > clock.now_ms() - HOUR
    clock.advance(HOUR)
    for committed in (0, 2, 4):
        assert columns(cluster.measure_one(topic, [committed])).oldest_at == [times[committed]]


@pytest.mark.parametrize("bad", [1, 1_795_244_400])
def test_bad_timestamps(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, bad: int
) -> None:
    topic = logs.topic()
    logs.produce(topic, [clock.now_ms() - MINUTE, bad, clock.now_ms()])
    cluster.commit(topic, [1])
    clock.advance(3)
    found = columns(cluster.measure()[GROUP])
    assert (found.reason, found.freshness_ms, found.bound_ms) == (["bad_timestamp"], [None], [3000])
    assert found.time_to_loss_ms == [None]


def test_a_producers_clock_that_is_ahead(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, [clock.now_ms() + 2500])
    found = columns(cluster.measure_one(topic, [0]))
    assert (found.reason, found.freshness_ms, found.bound_ms) == (["exact"], [0], [2500])


def test_a_record_from_the_future(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """Late for as long as it was seen, also when its timestamp has passed."""
    topic = logs.topic()
    logs.produce(topic, [clock.now_ms() + HOUR])
    event = cluster.measure_one(topic, [0])
    found = columns(event)
    assert (found.reason, found.freshness_ms, found.bound_ms) == (["bad_timestamp"], [None], [0])
    assert (event.freshness_ms, event.at_least_ms) == (None, 0)
    clock.advance(2 * 3600)
    found = columns(cluster.measure_one(topic, [0]))
    assert (found.reason, found.freshness_ms) == (["bad_timestamp"], [None])
    assert found.bound_ms == [2 * HOUR]


def test_a_compacted_topic_never_loses_what_is_newest(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic(cleanup_policy="compact", retention_ms=str(HOUR))
    producer = logs._producer()
    producer.produce(topic, b"x", b"key", partition=0, timestamp=clock.now_ms() - MINUTE)
    producer.flush(30)
    found = columns(cluster.measure_one(topic, [0]))
    assert (found.freshness_ms, found.time_to_loss_ms) == ([MINUTE], [None])


def test_a_position_beyond_the_end_of_the_log(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 3))
    cluster.commit(topic, [50], ends={0: (0, 60)})  # as the topic was before it was created anew
    found = columns(cluster.measure()[GROUP])
    assert (found.reason, found.freshness_ms) == (["control_only"], [0])


def test_a_topic_that_was_created_anew_is_read_anew(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, [clock.now_ms() - HOUR] * 2)
    assert columns(cluster.measure_one(topic, [1])).freshness_ms == [HOUR]
    logs.delete(topic)
    logs.topic()
    logs.produce(topic, [clock.now_ms() - MINUTE] * 2)
    clock.advance(60)
    assert columns(cluster.measure_one(topic, [1])).freshness_ms == [2 * MINUTE]


def test_a_topic_that_is_gone(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    cluster.commit(topic, [1], ends={0: (0, 5)})
    logs.delete(topic)
    clock.advance(4)
    found = columns(cluster.measure()[GROUP])
    assert (found.reason, found.freshness_ms, found.bound_ms) == (["timeout"], [None], [4000])
    assert topic not in logs.admin.list_topics(timeout=30).topics


def test_groups_at_the_same_position_are_read_once(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, reads: ReadCounter
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 10))
    for group in ("a", "b", "c"):
        cluster.commit(topic, [4], group=group)
    found = {group: columns(event).freshness_ms for group, event in cluster.measure().items()}
    assert found == {"a": [6 * MINUTE], "b": [6 * MINUTE], "c": [6 * MINUTE]}
    assert reads.since("record") == 1
    clock.advance(10)
    assert columns(cluster.measure()["a"]).freshness_ms == [6 * MINUTE + 10_000]
    assert reads.since("record") == 0


def test_how_long_until_a_group_has_caught_up(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """Two records a second come, it takes five: what is foretold comes true."""
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 300))
    foretold, committed, caught_up_at = [], 0, 0
    while not caught_up_at:
        event = cluster.measure_one(topic, [committed])
        if event.time_to_catch_up_ms is not None:
            assert (event.produce_rate, event.consume_rate) == (2.0, 5.0)
            assert columns(event).time_to_catch_up_ms == [event.time_to_catch_up_ms]
            foretold.append(clock.now_ms() + event.time_to_catch_up_ms)
        logs.produce(topic, [clock.now_ms()] * 20)
        clock.advance(10)
        committed += 50
        caught_up_at = clock.now_ms() if committed >= logs.range(topic)[1] else 0
    assert foretold == [caught_up_at] * len(foretold)
    assert len(foretold) > 5
    event = cluster.measure_one(topic, [committed])
    assert (event.freshness_ms, event.time_to_catch_up_ms) == (0, 0)


def test_a_group_that_was_not_heard_of_for_long(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 10))
    cluster.commit(topic, [4])
    clock.advance(91)
    event = cluster.measure()[GROUP]
    assert columns(event).reason == ["timeout"]
    assert (event.freshness_ms, columns(event).bound_ms) == (None, [None])


def test_nothing_shows_on_the_monitored_cluster(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 10))
    before = {g.group_id for g in logs.admin.list_consumer_groups().result(30).valid}
    cluster.measure_one(topic, [4])
    after = {g.group_id for g in logs.admin.list_consumer_groups().result(30).valid}
    assert after <= before
