"""."""

import asyncio
from collections.abc import Iterator

import pytest
from freshness.events import CLUSTER, GROUP, NOW
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import MINUTE, TimedLogs
from support.manual_clock import ManualClock
from warren.contracts import CommitConvention
from warren.metrics.freshness import FRESHNESS
from warren.settings import RedisSettings
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.passes.known_commits import KnownCommits
from warren_freshness.passes.known_times import KnownTimes
from warren_freshness.positions.group_positions import GroupSnapshot
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.record_times.cache import LocalCache, RedisCache, TimeCache

PLACE = LogPosition("orders", 0, 50)


def wanted(log_end: int = 60, *others: LogPosition) -> dict[LogPosition, PartitionState]:
    return {
        place: PartitionState(place, NOW, UNKNOWN, 0, log_end, NOW) for place in (PLACE, *others)
    }


class Passes:
    """What is kept in one pass and recalled in the next."""

    def __init__(self, no_redis: str) -> None:
        clock = ManualClock()
        redis = RedisCache(RedisSettings.model_validate({"url": no_redis}), 60, clock)
        self.known = KnownTimes(TimeCache(CLUSTER, LocalCache(10, 60, clock), redis))
        self.runner = asyncio.Runner()

    def keep(self, reading: Reading, topic_id: str = "a") -> None:
        self.runner.run(self.known.keep({PLACE: reading}, {"orders": topic_id}))

    def recall(self, log_end: int = 60, topic_id: str = "a") -> Reading | None:
        states = wanted(log_end, LogPosition("orders", 1, 7))
        return self.runner.run(self.known.recall(states, {"orders": topic_id})).get(PLACE)


@pytest.fixture
def passes(no_redis: str) -> Iterator[Passes]:
    bench = Passes(no_redis)
    yield bench
    bench.runner.run(bench.known.flush())
    bench.runner.close()


def test_a_records_times_are_known_from_then_on(passes: Passes) -> None:
    passes.keep(Reading("record", first=NOW - 9, before=NOW - 10))
    for log_end in (60, 70):
        assert passes.recall(log_end) == Reading("record", first=NOW - 9, before=NOW - 10)
    assert passes.recall(topic_id="b") is None


def test_a_record_after_a_deleted_position_is_known_where_it_is(passes: Passes) -> None:
    passes.keep(Reading("record", first=NOW - 9, log_start=55))
    assert passes.recall() is None
    first = PLACE._replace(offset=55)
    found = passes.runner.run(passes.known.recall_records([PLACE, first], {"orders": "a"}))
    assert found == {first: Reading("record", first=NOW - 9)}


def test_that_there_is_no_record_holds_until_the_log_grows(passes: Passes) -> None:
    passes.keep(Reading("none", before=NOW - 10, end=60))
    for _ in range(2):
        assert passes.recall(60) == Reading("none", before=NOW - 10, end=60)
    assert passes.recall(61) is None
    assert passes.recall(60) is None


def test_a_log_end_that_is_unknown_may_have_grown(passes: Passes) -> None:
    passes.keep(Reading("none", end=60))
    assert passes.recall(UNKNOWN) is None


@pytest.mark.parametrize("outcome", ["unread", "corrupt", "not_authorised"])
def test_what_told_nothing_is_read_again(passes: Passes, outcome: str) -> None:
    passes.keep(Reading(outcome))  # type: ignore[arg-type]  # parametrize knows no literals
    assert passes.recall() is None
    assert passes.known.fetch_offset(PLACE, 0) == 0


def test_a_search_that_was_not_finished_goes_on_in_the_next_pass_only(passes: Passes) -> None:
    passes.keep(Reading("unread", resume_at=57))
    assert passes.recall() is None
    assert passes.known.fetch_offset(PLACE, 0) == 57
    passes.runner.run(passes.known.keep({}, {}))
    assert passes.known.fetch_offset(PLACE, 0) == 0


RECORD = Reading("record", first=NOW - 90_000)


def at(committed: int, log_end: int, *, partition: int = 0, seen_at: int = NOW) -> PartitionState:
    place = LogPosition("orders", partition, committed)
    since = NOW - 60_000 if log_end > committed else -1
    return PartitionState(place, NOW - 60_000, since, 0, log_end, seen_at)


def group(*states: PartitionState) -> GroupSnapshot:
    return GroupSnapshot(CLUSTER, GROUP, NOW, {"orders": list(states)})


def learnt(known: KnownCommits, *states: PartitionState, reading: Reading = RECORD) -> str | None:
    readings = {place: reading for state in states if (place := state.to_read) is not None}
    known.learn(group(*states), readings)
    convention: CommitConvention | None = known.of(group())["orders"].convention
    return convention


def test_rests_at_two_ends() -> None:
    known = KnownCommits()
    assert learnt(known, at(9, 10)) is None
    assert learnt(known, at(9, 10)) is None, "the same one"
    assert learnt(known, at(19, 20)) == "last_processed"
    assert [state.steps for state in known.applied_to(group(at(19, 20))).states] == [1]
    assert learnt(known, at(20, 20)) == "next"
    assert [state.steps for state in known.applied_to(group(at(19, 20))).states] == [0]


def test_what_is_no_rest() -> None:
    known = KnownCommits()
    moving = at(9, 10, seen_at=NOW - 60_000), at(4, 5, partition=1, seen_at=NOW - 60_000)
    assert learnt(known, *moving) is None
    assert learnt(known, at(8, 10), at(3, 5, partition=1)) is None
    marker = Reading("none", end=10)
    assert learnt(known, at(9, 10), at(4, 5, partition=1), reading=marker) is None


def test_an_end_that_was_seen_before_the_commit_proves_nothing() -> None:
    known = KnownCommits()
    assert learnt(known, at(10, 10, seen_at=NOW - 1)) is None
    assert learnt(known, at(10, 10)) == "next"


def test_groups_that_go() -> None:
    known = KnownCommits()
    learnt(known, at(10, 10))
    known.forget([(CLUSTER, GROUP)])
    assert known.of(group()) == {}
    learnt(known, at(10, 10))
    known.release([0])
    assert known.of(group()) == {}


# Record times in Redis: shared by instances, missed by nobody when it is away.


class Lookups:
    """Where record times were found since they were last asked for."""

    def __init__(self) -> None:
        self._seen = {where: self._total(where) for where in ("memory", "redis", "log")}

    def since(self) -> dict[str, int]:
        before, self._seen = self._seen, {where: self._total(where) for where in self._seen}
        return {where: self._seen[where] - before[where] for where in self._seen}

    def _total(self, where: str) -> int:
        labels = {"cluster": CLUSTER, "found": where}
        return int(FRESHNESS.get_sample_value("warren_freshness_lookups_total", labels) or 0)


@pytest.fixture
def filled(logs: TimedLogs, clock: ManualClock) -> str:
    topic = logs.topic(partitions=4)
    for partition in range(4):
        logs.produce(topic, [clock.now_ms() - n * MINUTE for n in range(20, 0, -1)], partition)
    return topic


def instances(
    logs: TimedLogs, clock: ManualClock, url: str, count: int
) -> Iterator[MeasuredCluster]:
    for _ in range(count):
        cluster = MeasuredCluster(logs, clock, url)
        yield cluster
        cluster.close()


def test_another_instance_reads_nothing_again(
    logs: TimedLogs, clock: ManualClock, filled: str, redis_url: str
) -> None:
    lookups = Lookups()
    measured, found = [], []
    for cluster in instances(logs, clock, redis_url, 2):
        for _ in range(2):
            measured.append(cluster.measure_one(filled, [3, 7, 11, 19]).topics)
            found.append(lookups.since())
    assert all(topics == measured[0] for topics in measured)
    assert measured[0][filled].freshness_ms == [17 * MINUTE, 13 * MINUTE, 9 * MINUTE, MINUTE]
    assert measured[0][filled].commit_lag_ms == [18 * MINUTE, 14 * MINUTE, 10 * MINUTE, 2 * MINUTE]
    assert found == [
        {"memory": 0, "redis": 0, "log": 4},
        {"memory": 4, "redis": 0, "log": 0},
        {"memory": 0, "redis": 4, "log": 0},
        {"memory": 4, "redis": 0, "log": 0},
    ]


def test_a_cluster_that_is_away_is_measured_from_what_is_known(
    logs: TimedLogs, clock: ManualClock, filled: str, no_redis: str
) -> None:
    cluster = MeasuredCluster(logs, clock, no_redis)
    cluster.measure_one(filled, [3, 3, 3, 3])
    cluster.measurer._reader.brokers._addresses = {}
    cluster.measurer._reader.brokers._bootstrap = []
    cluster.run(cluster.measurer._reader.brokers.close())
    clock.advance(61)
    cluster.commit(filled, [3, 3, 5, 3])
    columns = cluster.measure()[GROUP].topics[filled]
    cluster.close()
    assert columns.reason == ["exact", "exact", "timeout", "exact"]
    assert columns.freshness_ms == [17 * MINUTE + 61_000] * 2 + [None, 17 * MINUTE + 61_000]
