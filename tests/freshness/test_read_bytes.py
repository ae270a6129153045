"""What passes over a real broker's logs cost: bytes that came over the sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle

import pytest
from freshness.events import CLUSTER, GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs
from support.socket_bytes import received_bytes
from support.waiting import eventually
from warren.clock import ManualClock
from warren.metrics.freshness import FRESHNESS
from warren.settings import FreshnessSettings
from warren_freshness.log_position import LogPosition
from warren_freshness.reading.batch_sizes import ByteBudget

MEGABYTE = 1_000_000
PARTITIONS = 4
RECORDS = 12
SMALL_TALK = 3000
"""Bytes that answers without a record may take in a pass."""


class Socket:
    """Bytes that a cluster's sockets received since they were last asked for."""

    def __init__(self, cluster: MeasuredCluster) -> None:
        self._brokers = cluster.measurer._reader.brokers
        self._seen = 0

    def since(self) -> int:
        before, self._seen = self._seen, received_bytes(self._brokers)
        return self._seen - before


@pytest.fixture
def socket(cluster: MeasuredCluster) -> Socket:
    return Socket(cluster)


def filled(logs: TimedLogs, clock: ManualClock, size: int, partitions: int = PARTITIONS) -> str:
    """A topic with batches of that size, each of one record."""
    topic = logs.topic(partitions=partitions, max_message_bytes="8000000")
    times = [clock.now_ms() - (RECORDS - n) * MINUTE for n in range(RECORDS)]
    for partition in range(partitions):
        logs.produce_alone(topic, times, partition, size=size)
    return topic


@pytest.mark.parametrize("size", [16 * 1024, 64 * 1024, 512 * 1024, MEGABYTE])
def test_a_moved_position_costs_its_batch_and_one_that_stays_nothing(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, socket: Socket, size: int
) -> None:
    topic = filled(logs, clock, size)
    most = 1.3 * PARTITIONS * size
    found = columns(cluster.measure_one(topic, [9] * PARTITIONS))
    assert found.freshness_ms == [3 * MINUTE] * PARTITIONS
    assert socket.since() <= most  # first look
    assert columns(cluster.measure_one(topic, [9] * PARTITIONS)).reason == ["exact"] * PARTITIONS
    assert socket.since() <= SMALL_TALK
    found = columns(cluster.measure_one(topic, [10] * PARTITIONS))
    assert found.freshness_ms == [2 * MINUTE] * PARTITIONS
    assert socket.since() <= most
    for _ in range(3):
        cluster.measure()
    assert socket.since() <= SMALL_TALK


def test_groups_in_one_batch_cost_it_once(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, socket: Socket
) -> None:
    topic = logs.topic()
    logs.produce(topic, [clock.now_ms() - n * MINUTE for n in range(100, 0, -1)], size=5000)
    for group in range(10):
        cluster.commit(topic, [10 * group + 1], group=f"g{group}")
    found = cluster.measure()
    assert [columns(found[f"g{group}"]).freshness_ms for group in range(10)] == [
        [(99 - 10 * group) * MINUTE] for group in range(10)
    ]
    assert socket.since() <= 1.3 * 500_000


def test_a_dead_group_before_the_start_of_its_logs_is_read_once(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, socket: Socket
) -> None:
    topic = filled(logs, clock, MEGABYTE)
    for partition in range(PARTITIONS):
        logs.delete_records(topic, 6, partition)
    found = columns(cluster.measure_one(topic, [3] * PARTITIONS))
    assert (found.reason, found.lost_records) == (["expired"] * PARTITIONS, [3] * PARTITIONS)
    assert socket.since() <= 1.3 * PARTITIONS * MEGABYTE
    for _ in range(3):
        clock.advance(10)
        assert columns(cluster.measure()[GROUP]).reason == ["expired"] * PARTITIONS
    assert socket.since() <= SMALL_TALK


def test_what_is_read_counts_as_it_came_over_the_socket(
    logs: TimedLogs, clock: ManualClock, no_redis: str
) -> None:
    """Also the answers that come after their pass has ended."""
    size = 4 * MEGABYTE
    topic = filled(logs, clock, size)
    with closing(MeasuredCluster(logs, clock, no_redis)) as cluster:
        socket, before, positions = Socket(cluster), counted(), cycle(range(RECORDS))
        reader = cluster.measurer._reader
        came, was_cut = 0, False

        def is_cut() -> bool:
            """Sixteen megabytes do not come in a fiftieth of a second."""
            nonlocal came, was_cut
            cluster.run(reader.prepare([topic], timeout=60))
            at = next(positions)
            wanted = {LogPosition(topic, p, at): at for p in range(PARTITIONS)}
            found = cluster.run(reader.read(wanted, ByteBudget(2**30), timeout=0.02))
            was_cut |= any(reading.outcome == "unread" for reading in found.values())
            came += socket.since()
            return was_cut and came > 3 * size

        def all_counted() -> bool:
            """Answers come meanwhile, and nothing more is asked for."""
            nonlocal came
            cluster.run(asyncio.sleep(0.01))
            cluster.run(reader.read({}, ByteBudget(0), timeout=60))
            came += socket.since()
            return abs(counted() - before - came) < MEGABYTE  # an answer has four

        eventually(is_cut, message="a pass is cut")
        eventually(all_counted, message="as much is counted as has come")


def counted() -> float:
    value = FRESHNESS.get_sample_value("warren_freshness_read_bytes_total", {"cluster": CLUSTER})
    return value or 0


@pytest.fixture
def starved(logs: TimedLogs, clock: ManualClock, no_redis: str) -> Iterator[MeasuredCluster]:
    """A cluster of which a pass may read one megabyte."""
    cluster = MeasuredCluster(logs, clock, no_redis, FreshnessSettings(pass_bytes=2**20))
    yield cluster
    cluster.close()


def test_groups_share_what_a_pass_may_read(
    logs: TimedLogs, clock: ManualClock, starved: MeasuredCluster
) -> None:
    """Some never move, the others' positions alone are too much for a pass."""
    topic = logs.topic()
    busy, still = [f"busy-{n}" for n in range(31)], [f"still-{n}" for n in range(9)]
    times = [clock.now_ms() - (150 - n) * MINUTE for n in range(150)]
    logs.produce_alone(topic, times, size=64 * 1024)
    since_measured = dict.fromkeys(busy + still, 0)
    longest = bound = 0
    for number in range(12):
        for at, group in enumerate(busy):
            starved.commit(topic, [at * 3 + number], group=group)
        for at, group in enumerate(still):
            starved.commit(topic, [120 + at], group=group)
        for group, event in starved.measure().items():
            is_measured = columns(event).reason == ["exact"]
            since_measured[group] = 0 if is_measured else since_measured[group] + 1
        bound = max(bound, gauge("round_passes"))
        longest = max(longest, *since_measured.values())
    assert 1 < longest <= bound < 12


def gauge(name: str) -> int:
    value = FRESHNESS.get_sample_value(f"warren_freshness_{name}", {"cluster": CLUSTER})
    assert value is not None
    return int(value)
