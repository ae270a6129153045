"""Logs of many kinds of batches, measured at each of their offsets: what a plain consumer finds."""

from collections.abc import Iterator

from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.contracts import FreshnessEvent

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


def test_compressed_batches_among_transactions(
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
    assert_true_everywhere(logs, clock, cluster, topic)


def test_large_batches_with_records_before_and_after(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    times = ages(clock)
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
