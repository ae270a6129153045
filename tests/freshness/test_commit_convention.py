"""Groups that commit the last offset that they have processed, on a real broker's logs."""

from __future__ import annotations

from freshness.events import CLUSTER, GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from warren.clock import ManualClock
from warren.contracts import TopicFreshness


def rest(cluster: MeasuredCluster, topic: str, committed: list[int]) -> TopicFreshness:
    """The group stays there for a while, and so do the logs."""
    for _ in range(3):
        cluster.commit(topic, committed)
        cluster.measure()
        cluster.clock.advance(6)
    return columns(cluster.measure()[GROUP])


def test_a_group_that_rests_one_before_the_end_again_and_again_is_not_late(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 60))
    found = rest(cluster, topic, [59])
    # One record may be left, or none: so much is said while nobody can know.
    assert (found.reason, found.commit_convention) == (["exact"], None)
    assert found.freshness_ms == found.bound_ms != [0]
    logs.produce(topic, [clock.now_ms() - 3640 * 1000])
    found = rest(cluster, topic, [60])
    assert (found.reason, found.freshness_ms) == (["caught_up"], [0])
    assert (found.commit_convention, found.commit_lag_ms) == (
        "last_processed",
        [3_640_000 + 12_000],
    )
    logs.produce(topic, [clock.now_ms() - 3 * MINUTE, clock.now_ms() - 2 * MINUTE])
    found = columns(cluster.measure_one(topic, [60]))
    assert (found.reason, found.freshness_ms) == (["exact"], [3 * MINUTE])
    found = columns(cluster.measure_one(topic, [61]))
    assert (found.reason, found.freshness_ms, found.bound_ms) == (["exact"], [2 * MINUTE], [0])
    assert columns(cluster.measure_one(topic, [62])).freshness_ms == [0]


def test_a_stuck_group_beside_partitions_that_are_done_is_late(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic(partitions=3)
    for partition in range(3):
        logs.produce(topic, minutely(clock, 10), partition)
    found = rest(cluster, topic, [10, 9, 9])
    assert found.commit_convention == "next"
    assert found.bound_ms[1:] == [0, 0]
    assert found.freshness_ms[1:] == [MINUTE + 18_000] * 2


def test_partitions_tell_it_of_each_other(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.produce(topic, minutely(clock, 10), partition)
    found = rest(cluster, topic, [9, 9])
    assert (found.freshness_ms, found.commit_convention) == ([0, 0], "last_processed")
    # Until one of them has committed an end.
    cluster.commit(topic, [10, 9])
    cluster.measure()
    found = columns(cluster.measure()[GROUP])
    assert (found.reason, found.commit_convention) == (["caught_up", "exact"], "next")


def test_a_transactions_marker_is_no_record(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """Clients commit the offset after the last record, which a marker may have."""
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.transaction(topic, [clock.now_ms() - MINUTE] * 2, partition, commit=True)
    found = rest(cluster, topic, [2, 2])
    assert (found.reason, found.commit_convention) == (["control_only"] * 2, None)


def test_another_instance_begins_with_what_was_published(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, no_redis: str
) -> None:
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.produce(topic, minutely(clock, 10), partition)
    rest(cluster, topic, [9, 9])
    last = cluster.measure()[GROUP]
    assert last.cluster == CLUSTER
    other = MeasuredCluster(logs, clock, no_redis)
    other.measurer.recall(0, [last])
    assert columns(other.measure_one(topic, [9, 9])).freshness_ms == [0, 0]
    other.close()
