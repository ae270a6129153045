"""Passes over a real broker's logs whose records are not read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from support.socket_bytes import received_bytes
from warren.clock import ManualClock
from warren.settings import FreshnessSettings


@pytest.fixture
def cluster(logs: TimedLogs, clock: ManualClock, no_redis: str) -> Iterator[MeasuredCluster]:
    settings = FreshnessSettings(topics_deny=["-secret$"])
    measured = MeasuredCluster(logs, clock, no_redis, settings)
    yield measured
    measured.close()


def test_topics_that_shall_not_be_read(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic("secret", partitions=3, max_message_bytes="8000000")
    for partition in range(3):
        logs.produce_alone(topic, minutely(clock, 20), partition, size=200_000)
    found = columns(cluster.measure_one(topic, [0, 7, 19]))
    assert found.reason == ["estimated"] * 3
    for value, bound, age in zip(
        found.freshness_ms, found.bound_ms, [20 * MINUTE, 13 * MINUTE, MINUTE], strict=True
    ):
        assert value is not None
        assert bound is not None
        assert value - bound <= age <= value
        assert bound <= MINUTE
    received = received_bytes(cluster.measurer._reader.brokers)
    assert received < 20_000
    assert columns(cluster.measure()[GROUP]) == found
    assert received_bytes(cluster.measurer._reader.brokers) == received


def test_an_estimate_follows_the_group(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic("secret")
    logs.produce(topic, minutely(clock, 300))
    late = []
    for committed in (10, 11, 150, 299):
        found = columns(cluster.measure_one(topic, [committed]))
        assert found.reason == ["estimated"]
        (value,), (bound,), (since,) = found.freshness_ms, found.bound_ms, found.late_since
        assert value is not None
        assert bound is not None
        assert since is not None
        assert value - bound <= (300 - committed) * MINUTE <= value
        assert clock.now_ms() - since == value - bound  # at the latest since then
        late.append(value)
    assert late == sorted(late, reverse=True)
    assert columns(cluster.measure_one(topic, [300])).reason == ["caught_up"]


def test_the_log_of_an_estimate_begins_later(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic("secret")
    logs.produce_alone(topic, minutely(clock, 60), size=100)
    logs.delete_records(topic, 34)
    found = columns(cluster.measure_one(topic, [29]))
    assert (found.reason, found.freshness_ms, found.lost_records) == (["expired"], [None], [5])
    assert found.bound_ms == [26 * MINUTE]


def test_a_topic_that_is_gone_is_not_estimated(logs: TimedLogs, cluster: MeasuredCluster) -> None:
    topic = logs.topic("secret")
    cluster.commit(topic, [1], ends={0: (0, 5)})
    logs.delete(topic)
    assert columns(cluster.measure()[GROUP]).reason == ["timeout"]
