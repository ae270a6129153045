"""Logs of many kinds of batches, measured at each of their offsets: what a plain consumer finds."""

from collections.abc import Iterator

from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.contracts import FreshnessEvent, TopicFreshness
from warren_freshness.positions.group_positions import GroupPositions

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def assert_true_everywhere(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, topic: str
) -> dict[int, FreshnessEvent]:
    """A group at each offset, from the first one ever to the end, by two looks."""
    records = logs.times(topic)
    start, end = logs.range(topic)
    for _ in range(2):
        for offset in range(end + 1):
            cluster.commit(topic, [offset], group=str(offset), ends={0: (start, end)})
        measured = {int(group): event for group, event in cluster.measure().items()}
        for offset, event in measured.items():
            found = columns(event)
            times = [time for at, time in sorted(records.items()) if at >= offset]
            late = clock.now_ms() - times[0] if times else 0
            if offset < start:
                assert (found.reason, found.freshness_ms) == (["expired"], [None]), offset
                assert found.lost_records == [start - offset]
                assert found.oldest_at == [times[0] if times else None], offset
            else:
                assert found.freshness_ms == [late], (offset, found)
                # Who rests at the last record may have processed it.
                assert found.bound_ms == [0] or offset == end - 1, offset
        clock.advance(11)
    return measured


def ages(clock: ManualClock) -> Iterator[int]:
    """Append times, oldest first."""
    age = 500 * MINUTE
    while True:
        yield clock.now_ms() - age
        age -= 7 * 1000


def take(times: Iterator[int], count: int) -> list[int]:
    return [next(times) for _ in range(count)]


def test_large_and_compressed_batches_among_transactions(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    times = ages(clock)
    for number, codec in enumerate(CODECS):
        logs.produce(topic, take(times, 5), codec=codec, size=10 ** (number % 4))
        logs.transaction(topic, take(times, 2), commit=number % 2 == 0)
        logs.transaction(topic, take(times, 3), commit=False)
    logs.produce(topic, take(times, 3)[::-1], codec="lz4")  # times need not grow
    logs.transaction(topic, take(times, 2), commit=False)
    for size in (10, 100_000, 50, 20_000, 10):
        logs.produce(topic, take(times, 8), size=size)
    assert_true_everywhere(logs, clock, cluster, topic)


def test_a_log_that_begins_in_the_middle_of_a_batch(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    times = ages(clock)
    logs.produce(topic, take(times, 10), codec="zstd")
    logs.produce(topic, take(times, 10), codec="gzip")
    logs.delete_records(topic, 13)
    assert_true_everywhere(logs, clock, cluster, topic)


def test_a_compacted_log_has_holes(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """Where compaction took all records up to the end of a batch, too."""
    topic = logs.topic(
        cleanup_policy="compact",
        segment_ms="1",
        min_cleanable_dirty_ratio="0.001",
        max_compaction_lag_ms="100",
    )
    times = ages(clock)
    keys = ["a", "b", "a", "c", "a", "a"]
    for codec in CODECS:
        logs.produce(topic, take(times, len(keys)), keys=keys, codec=codec)
    logs.transaction(topic, take(times, 3), commit=True, keys=["a", "d", "d"])
    logs.transaction(topic, take(times, 3), commit=False, keys=["a", "b", "e"])
    before = logs.range(topic)[1]

    def is_compacted() -> bool:
        # A segment is rolled by what comes after it, and the last one is never compacted.
        logs.produce(topic, take(times, 1), keys=["last"])
        return sum(offset < before for offset in logs.times(topic)) == 4  # a, b, c, d

    eventually(is_compacted, timeout=120, message="the log is compacted")
    assert_true_everywhere(logs, clock, cluster, topic)


def test_a_topic_that_changes_what_its_timestamps_are(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    times = ages(clock)
    for kind in ("LogAppendTime", "CreateTime", "LogAppendTime"):
        for codec in ("none", "lz4"):
            logs.produce(topic, take(times, 4), codec=codec)
        logs.configure(topic, message_timestamp_type=kind)
    for _ in range(2):
        logs.produce(topic, take(times, 4), codec="gzip")
    clock.advance(600)  # after what the broker's clock says
    assert_true_everywhere(logs, clock, cluster, topic)


# Groups that commit the last offset that they have processed, on a real broker's logs.


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
    found = columns(cluster.measure()[GROUP])
    assert found.reason == ["caught_up", "beyond_end"]
    assert (found.freshness_ms, found.bound_ms) == ([0, None], [5000, None])
    assert found.lost_records == [0, 0]
