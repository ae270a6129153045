"""Groups that commit the last offset that they have processed, on a real broker's logs."""

from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from support.manual_clock import ManualClock
from warren.contracts import TopicFreshness
from warren_freshness.positions.group_positions import GroupPositions


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


TICK = 5000


def looks(*seen: tuple[int, int]) -> list[bool]:
    """Whether it counts as beyond the end, after each look at (committed, log end)."""
    positions = GroupPositions()
    found = []
    for number, (committed, log_end) in enumerate(seen):
        event = offset_event({"orders": [At(committed, log_end)]}, observed_at=NOW + number * TICK)
        positions.fold(event, 0)
        ((state,),) = [group.topics["orders"] for group in positions.snapshots(CLUSTER, [0])]
        found.append(state.is_beyond_end)
    return found


def test_two_looks_in_a_row_are_needed() -> None:
    assert looks((50, 17), (50, 17), (50, 17)) == [False, True, True]
    assert looks((50, 50), (50, 40), (50, 50), (50, 40)) == [False] * 4


def test_a_look_that_does_not_know_the_log_end_changes_nothing() -> None:
    assert looks((50, 17), (50, -1), (50, 17), (50, -1)) == [False, False, True, True]
    assert looks((50, -1), (50, -1)) == [False, False]


def test_it_ends_with_another_commit_or_with_the_log_growing() -> None:
    assert looks((50, 17), (50, 17), (17, 17), (50, 17)) == [False, True, False, False]
    assert looks((50, 17), (50, 17), (50, 60)) == [False, True, False]


def test_nobody_knows_how_late_it_is(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.produce(topic, minutely(clock, 17), partition)
    for _ in range(2):
        cluster.commit(topic, [17, 1_000_000])
        clock.advance(5)
    event = cluster.measure()[GROUP]
    found = columns(event)
    assert found.reason == ["caught_up", "beyond_end"]
    assert (found.freshness_ms, found.bound_ms) == ([0, None], [5000, None])
    assert found.lost_records == [0, 0]
