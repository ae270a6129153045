"""What passes over a real broker's logs cost: bytes that came over the sockets."""

import pytest
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs
from support.manual_clock import ManualClock
from support.socket_bytes import received_bytes

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
