"""Passes over a real broker's logs whose first records are deleted."""

from __future__ import annotations

from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from warren.clock import ManualClock


def test_expired(logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster) -> None:
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.produce(topic, minutely(clock, 60), partition)
        logs.delete_records(topic, 34, partition)
    # The second partition's event was made before the records were deleted.
    cluster.commit(topic, [29, 10], ends={1: (0, 60)})
    event = cluster.measure()[GROUP]
    found = columns(event)
    assert found.reason == ["expired", "expired"]
    assert found.freshness_ms == [None, None]
    assert found.bound_ms == [26 * MINUTE, 26 * MINUTE]
    assert found.lost_records == [5, 24]
    assert (event.freshness_ms, event.at_least_ms) == (None, 26 * MINUTE)
    assert event.lost_records == 29
    assert found.commit_lag_ms == [None, None]


def test_records_that_retention_may_take_are_looked_at_in_every_pass(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """Events learn where logs begin only every half minute."""
    topic = logs.topic(partitions=2, retention_ms=str(50 * MINUTE))
    for partition in range(2):
        logs.produce(topic, minutely(clock, 60), partition)
    logs.delete_records(topic, 34, 1)
    cluster.commit(topic, [5, 10])  # the first is as old as its topic's retention
    before = columns(cluster.measure()[GROUP])
    assert before.reason == ["exact", "expired"]
    assert (before.freshness_ms, before.bound_ms) == ([55 * MINUTE, None], [0, 26 * MINUTE])
    for partition in range(2):
        logs.delete_records(topic, 40, partition)
    after = columns(cluster.measure()[GROUP])
    assert after.reason == ["expired", "expired"]
    assert after.freshness_ms == [None, None]
    assert after.bound_ms == [55 * MINUTE, 26 * MINUTE]  # as late as they were
    assert after.lost_records == [35, 30]


def test_only_what_was_consumed_is_deleted(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 60))
    logs.delete_records(topic, 28)
    cluster.commit(topic, [29], ends={0: (0, 60)})
    found = columns(cluster.measure()[GROUP])
    assert (found.reason, found.freshness_ms, found.lost_records) == (["exact"], [31 * MINUTE], [0])


def test_everything_is_deleted(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 10))
    cluster.commit(topic, [3])
    logs.delete_records(topic, 10)
    clock.advance(9)
    event = cluster.measure()[GROUP]
    found = columns(event)
    assert (found.reason, found.freshness_ms, found.lost_records) == (["expired"], [None], [7])
    assert found.bound_ms == [9000]
    assert (event.freshness_ms, event.lost_records) == (None, 7)
