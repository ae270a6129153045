"""Passes over a real broker's logs whose records are not read."""

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest
from aiokafka.errors import IncompatibleBrokerVersion
from freshness.events import CLUSTER, GROUP, NOW
from freshness.fake_brokers import FakeBrokers, FakeLog
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from support.manual_clock import ManualClock
from support.socket_bytes import received_bytes
from warren.settings import ClusterSettings, FreshnessSettings, RedisSettings
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.passes.log_end_samples import LogEndSamples, LogStarts
from warren_freshness.passes.position_readings import PositionReadings
from warren_freshness.positions.group_positions import GroupSnapshot
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.reading.batch_sizes import ByteBudget
from warren_freshness.reading.record_reader import OffsetLookups, RecordReader
from warren_freshness.record_times.cache import LocalCache, RedisCache, TimeCache
from warren_freshness.topics.metadata import TopicMetadata
from warren_freshness.topics.retention import Retention
from warren_wire.brokers import Brokers
from warren_wire.partition_requests import (
    EARLIEST,
    EARLIEST_LOCAL,
    NOT_FOUND,
    FoundOffset,
    ListOffsetsRequest,
)


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


OLD, YOUNG = LogPosition("orders", 0, 30), LogPosition("orders", 1, 80)


@pytest.fixture
def brokers(clock: ManualClock) -> FakeBrokers:
    times = {n: clock.now_ms() - (100 - n) * MINUTE for n in range(100)}
    logs = {("orders", p): FakeLog(times, local_start=60) for p in range(2)}
    return FakeBrokers(logs, config={"remote.storage.enable": "true"})


def read(brokers: FakeBrokers, clock: ManualClock, no_redis: str) -> dict[LogPosition, Reading]:
    cluster = ClusterSettings(bootstrap="b:1")
    reader = RecordReader(CLUSTER, f"clusters.{CLUSTER}", cluster, clock)
    reader.brokers = cast("Brokers", brokers)
    reader.metadata = TopicMetadata(reader.brokers, CLUSTER, "clusters.prod", clock)
    reader._offsets = OffsetLookups(reader.brokers, reader.metadata)
    redis = RedisCache(RedisSettings.model_validate({"url": no_redis}), 60, clock)
    readings = PositionReadings(
        reader,
        TimeCache(CLUSTER, LocalCache(9, 60, clock), redis),
        Retention(CLUSTER, reader.brokers, 300, clock),
        [],
        clock,
    )
    now = clock.now_ms()
    states = [PartitionState(place, now, UNKNOWN, 0, 100, now) for place in (OLD, YOUNG)]
    group = GroupSnapshot(CLUSTER, GROUP, now, {"orders": states})

    async def work() -> dict[LogPosition, Reading]:
        await reader.prepare({"orders"}, timeout=30)
        return await readings.read([group], ByteBudget(1 << 30), lambda: 30)

    return asyncio.run(work())


def test_what_is_in_remote_storage_only_is_estimated(
    brokers: FakeBrokers, clock: ManualClock, no_redis: str
) -> None:
    found = read(brokers, clock, no_redis)
    at = clock.now_ms() - 70 * MINUTE
    assert found[OLD] == Reading("estimated", first=at, latest=at)
    assert found[YOUNG].outcome == "record"
    assert [fetch for fetch in brokers.fetches if ("orders", 0) in fetch] == []


def test_topics_that_are_not_tiered_are_read(
    brokers: FakeBrokers, clock: ManualClock, no_redis: str
) -> None:
    brokers.config["remote.storage.enable"] = "false"
    assert {reading.outcome for reading in read(brokers, clock, no_redis).values()} == {"record"}


def test_brokers_that_do_not_know_of_it_are_not_asked() -> None:
    request: Any = ListOffsetsRequest([("orders", [(0, EARLIEST_LOCAL)])])
    with pytest.raises(IncompatibleBrokerVersion):
        request.prepare({2: (1, 7)})
    assert request.prepare({2: (1, 11)}).API_VERSION == 8
    everywhere: Any = ListOffsetsRequest([("orders", [(0, EARLIEST)])])
    assert everywhere.prepare({2: (1, 2)}).API_VERSION == 2


def state(partition: int, log_end: int, committed: int = 1, log_start: int = 0) -> PartitionState:
    place = LogPosition("orders", partition, committed)
    return PartitionState(place, NOW, UNKNOWN, log_start, log_end, NOW)


def end(partition: int, log_end: int) -> LogPosition:
    return LogPosition("orders", partition, log_end)


def found(before: int | None) -> Reading:
    return Reading("none", before=before)


def test_a_log_end_is_due_again_when_it_moved() -> None:
    newest = LogEndSamples(10)
    newest.take({end(0, 9): found(77), end(1, 9): found(78)})
    assert list(newest.due([state(0, 9), state(1, 12)])) == [end(1, 12)]
    assert newest.newest() == {end(0, 9): 77, end(1, 9): 78}


def test_no_record_before_the_end() -> None:
    newest = LogEndSamples(10)
    newest.take({end(0, 9): found(None)})
    assert newest.newest() == {}
    assert list(newest.due([state(0, 9)])) == [end(0, 9)]


def test_samples_are_bounded_and_take_turns() -> None:
    newest = LogEndSamples(2)
    turns = []
    for log_end in range(10, 14):
        due = newest.due([state(partition, log_end) for partition in range(4)])
        turns.append(sorted(place.partition for place in due))
        newest.take({place: found(log_end) for place in due})
    assert turns == [[0, 1], [2, 3], [0, 1], [2, 3]]


def test_empty_logs_and_partitions_without_a_commit_are_not_sampled() -> None:
    newest = LogEndSamples(10)
    nothing = [state(0, 0), state(1, 5, log_start=5), state(2, UNKNOWN), state(3, 9, committed=-1)]
    assert newest.due(nothing) == {}


def test_what_gives_nothing_does_not_keep_others_waiting() -> None:
    newest = LogEndSamples(2)
    states = [state(partition, 9) for partition in range(4)]
    for _ in range(2):
        due = newest.due(states)
        newest.take({p: found(77 if p.partition > 1 else None) for p in due})
    assert newest.newest() == {end(2, 9): 77, end(3, 9): 77}


def test_the_largest_timestamp_may_be_that_of_a_record_after_the_end_that_was_seen() -> None:
    newest = LogEndSamples(10)
    positions = [end(0, 9), end(1, 9), end(2, 9), end(3, 9)]
    newest.take_largest(
        positions,
        {
            ("orders", 0): FoundOffset(77, 8),
            ("orders", 1): FoundOffset(78, 9),
            ("orders", 2): FoundOffset(NOT_FOUND, NOT_FOUND),
        },
    )
    assert newest.newest() == {end(0, 9): 77}
    assert newest.largest() == {end(1, 9): 78}


PLACE = LogPosition("orders", 0, 5)


def starts_at(start: int) -> LogStarts:
    starts = LogStarts(cast("RecordReader", None))  # nobody is asked here
    begin(starts)
    starts.learn({PLACE: Reading("record", first=NOW, log_start=start)})
    return starts


def begin(starts: LogStarts, log_start: int = 0, log_end: int = 99, topic_id: str = "a") -> None:
    state = PartitionState(PLACE, NOW, UNKNOWN, log_start, log_end, NOW)
    starts.begin({PLACE: state}, {"orders": topic_id})


def test_a_deleted_position_is_where_the_log_begins() -> None:
    starts = starts_at(34)
    begin(starts)
    assert starts.place(PLACE) == PLACE._replace(offset=34)
    assert starts.place(PLACE._replace(offset=50)).offset == 50
    assert starts.place(PLACE._replace(partition=1)).offset == 5
    others = [PLACE._replace(offset=50), PLACE._replace(partition=1)]
    assert starts.moved([PLACE, *others]) == {PLACE: PLACE._replace(offset=34)}


def test_a_topic_that_was_created_anew_begins_anew() -> None:
    starts = starts_at(34)
    begin(starts, topic_id="b")
    assert starts.place(PLACE) == PLACE
