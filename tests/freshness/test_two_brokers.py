"""Records' times in a cluster of two brokers, one of which ends and comes back."""

import pytest
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import TimedLogs, minutely
from support.manual_clock import ManualClock
from support.two_brokers import create_replicated, lead_as_preferred
from support.waiting import eventually
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
        """Each figure is right or said to be unknown; true once both are known.

        A leader of a moment ago may tell an end that is too low: the ends are those produced.
        """
        cluster.commit(topic, [offset, offset], ends={0: (0, 10), 1: (0, 10)})
        found = columns(cluster.measure()[GROUP])
        told = set(zip(found.reason, found.oldest_at, strict=True))
        assert told <= {("exact", times[offset]), ("timeout", None)}
        return told == {("exact", times[offset])}

    eventually(lambda: measured(2), message="both are read")
    second.stop()
    eventually(lambda: measured(4), message="both are read from one broker")
    second.start()
    lead_as_preferred(logs.admin)
    eventually(lambda: measured(6), message="both are read again")
