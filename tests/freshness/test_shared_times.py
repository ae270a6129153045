"""Record times in Redis: shared by instances, missed by nobody when it is away."""

from collections.abc import Iterator

import pytest
from freshness.events import CLUSTER, GROUP
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import MINUTE, TimedLogs
from support.manual_clock import ManualClock
from warren.metrics.freshness import FRESHNESS


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
