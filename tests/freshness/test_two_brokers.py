"""Records' times in a cluster of two brokers, one of which ends and comes back."""

from __future__ import annotations

import pytest
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import TimedLogs, minutely
from support.two_brokers import create_replicated, lead_as_preferred
from support.waiting import eventually
from warren.clock import ManualClock
from warren_local.kafka import EmbeddedKafka


@pytest.fixture
def logs(two_brokers: tuple[EmbeddedKafka, EmbeddedKafka], unique: str) -> TimedLogs:
    return TimedLogs(",".join(broker.bootstrap for broker in two_brokers), unique)


def test_leadership_moves(
    two_brokers: tuple[EmbeddedKafka, EmbeddedKafka],
    logs: TimedLogs,
    clock: ManualClock,
    cluster: MeasuredCluster,
) -> None:
    _, second = two_brokers
    topic = f"{logs.name}-orders"
    create_replicated(logs.admin, topic)
    times = minutely(clock, 10)
    for partition in range(2):
        logs.produce(topic, times, partition)

    def measured(offset: int) -> bool:
        """Each figure is right or said to be unknown; true once both are known."""
        found = cluster.measure_one(topic, [offset, offset]).topics[topic]
        known = [reason == "exact" for reason in found.reason]
        for is_known, reason, oldest_at in zip(known, found.reason, found.oldest_at, strict=True):
            assert oldest_at == times[offset] if is_known else reason == "timeout"
        return all(known)

    eventually(lambda: measured(2), message="both are read")
    second.stop()
    eventually(lambda: measured(4), message="both are read from one broker")
    second.start()
    lead_as_preferred(logs.admin)
    eventually(lambda: measured(6), message="both are read again")
