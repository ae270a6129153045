"""Passes over a real broker's logs, compared with what a plain consumer reads."""

import pytest
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs, minutely
from support.manual_clock import ManualClock
from support.two_brokers import create_replicated, lead_as_preferred
from support.waiting import eventually
from warren_local.kafka import EmbeddedKafka

HOUR = 60 * MINUTE


def test_steady(logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster) -> None:
    topic = logs.topic(partitions=3, retention_ms=str(2 * HOUR))
    for partition in range(3):
        logs.produce(topic, minutely(clock, 10), partition)
    event = cluster.measure_one(topic, [7, 0, 10])
    found = columns(event)
    assert found.reason == ["exact", "exact", "caught_up"]
    assert found.freshness_ms == [3 * MINUTE, 10 * MINUTE, 0]
    assert found.bound_ms == [0, 0, 0]
    assert found.oldest_at[:2] == [logs.times(topic, 0)[7], logs.times(topic, 1)[0]]
    assert found.time_to_loss_ms == [117 * MINUTE, 110 * MINUTE, None]
    assert found.commit_lag_ms == [4 * MINUTE, None, MINUTE]
    assert found.append_lag_ms == [3 * MINUTE, None, 0]
    assert (event.freshness_ms, event.time_to_loss_ms) == (10 * MINUTE, 110 * MINUTE)


def test_a_topic_that_was_created_anew_is_read_anew(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, [clock.now_ms() - HOUR] * 2)
    assert columns(cluster.measure_one(topic, [1])).freshness_ms == [HOUR]
    logs.delete(topic)
    logs.topic()
    logs.produce(topic, [clock.now_ms() - MINUTE] * 2)
    clock.advance(60)
    assert columns(cluster.measure_one(topic, [1])).freshness_ms == [2 * MINUTE]


def test_nothing_shows_on_the_monitored_cluster(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic()
    logs.produce(topic, minutely(clock, 10))
    before = {g.group_id for g in logs.admin.list_consumer_groups().result(30).valid}
    cluster.measure_one(topic, [4])
    assert {g.group_id for g in logs.admin.list_consumer_groups().result(30).valid} <= before


@pytest.mark.parametrize("commit", [True, False])
def test_only_control_and_aborted_records_are_left(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, commit: bool
) -> None:
    topic = logs.topic()
    now = clock.now_ms()
    logs.transaction(topic, [now - 9 * MINUTE] * 2, commit=True)
    committed = 2  # after the last record: the marker is left
    if not commit:
        logs.transaction(topic, [now - 8 * MINUTE] * 2, commit=False)
    _, end = logs.range(topic)
    assert end == (3 if commit else 6)
    event = cluster.measure_one(topic, [committed])
    found = columns(event)
    assert (found.reason, found.freshness_ms, found.bound_ms) == (["control_only"], [0], [0])
    assert (found.commit_lag_ms, found.append_lag_ms) == ([9 * MINUTE], [0])
    assert event.freshness_ms == 0
    # It stays so without being read again, until a record is appended.
    clock.advance(5)
    assert columns(cluster.measure()[GROUP]).reason == ["control_only"]
    logs.produce(topic, [now - MINUTE])
    clock.advance(1)
    found = columns(cluster.measure_one(topic, [committed]))
    assert (found.reason, found.freshness_ms) == (["exact"], [MINUTE + 6000])


def test_a_hanging_transaction_with_plain_records_behind_it(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """A group that reads uncommitted records is late, one that does not is held up."""
    topic = logs.topic(partitions=2)
    now = clock.now_ms()
    with logs.open_transaction(topic, [now - 30 * MINUTE], 1) as end:
        logs.produce(topic, [now - 20 * MINUTE] * 1000, 1)
        event = cluster.measure_one(topic, [-1, 0])
        found = columns(event)
        assert (found.reason[1], found.freshness_ms[1]) == ("open_transaction", 30 * MINUTE)
        assert found.bound_ms[1] == 30 * MINUTE
        assert event.freshness_ms == 30 * MINUTE
        (hanging,) = event.open_transactions
        assert (hanging.topic, hanging.partition, hanging.first_offset) == (topic, 1, 0)
        assert (hanging.since, hanging.hanging) == (now - 30 * MINUTE, True)
        assert hanging.producer_id is not None
        assert hanging.producer_epoch is not None
        assert hanging.transactional_id == f"{logs.name}-{topic}-1"
        # One that has committed what comes after reads uncommitted records.
        event = cluster.measure_one(topic, [-1, 500])
        found = columns(event)
        assert (found.reason[1], found.freshness_ms[1]) == ("exact", 20 * MINUTE)
        assert (found.bound_ms[1], event.open_transactions) == (0, [])
        end(False)
    cluster.commit(topic, [-1, 0])
    event = cluster.measure()[GROUP]
    assert columns(event).freshness_ms[1] == 20 * MINUTE
    assert event.open_transactions == []


def test_expired(logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster) -> None:
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.produce(topic, minutely(clock, 60), partition)
        logs.delete_records(topic, 34, partition)
    # The second partition's event was made before the records were deleted.
    cluster.commit(topic, [29, 10], ends={1: (0, 60)})
    event = cluster.measure()[GROUP]
    found = columns(event)
    assert found.reason == ["expired", "expired"]
    assert found.freshness_ms == [None, None]
    assert found.bound_ms == [26 * MINUTE, 26 * MINUTE]
    assert found.lost_records == [5, 0]  # it may have read the others before
    assert (event.freshness_ms, event.at_least_ms) == (None, 26 * MINUTE)
    assert event.lost_records == 5
    assert found.commit_lag_ms == [None, None]


def test_records_that_retention_may_take_are_looked_at_in_every_pass(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """Events learn where logs begin only every half minute."""
    topic = logs.topic(partitions=2, retention_ms=str(50 * MINUTE))
    for partition in range(2):
        logs.produce(topic, minutely(clock, 60), partition)
    logs.delete_records(topic, 34, 1)
    cluster.commit(topic, [5, 10])  # the first is as old as its topic's retention
    before = columns(cluster.measure()[GROUP])
    assert before.reason == ["exact", "expired"]
    assert (before.freshness_ms, before.bound_ms) == ([55 * MINUTE, None], [0, 26 * MINUTE])
    for partition in range(2):
        logs.delete_records(topic, 40, partition)
    after = columns(cluster.measure()[GROUP])
    assert after.reason == ["expired", "expired"]
    assert after.freshness_ms == [None, None]
    assert after.bound_ms == [55 * MINUTE, 26 * MINUTE]  # as late as they were
    assert after.lost_records == [0, 24]  # as the events know


def test_an_open_transaction(logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster) -> None:
    topic = logs.topic()
    now = clock.now_ms()
    logs.produce(topic, [now - 9 * MINUTE])
    with logs.open_transaction(topic, [now - 5 * MINUTE] * 2) as end:
        found = columns(cluster.measure_one(topic, [1]))
        assert (found.reason, found.freshness_ms) == (["open_transaction"], [5 * MINUTE])
        assert found.bound_ms == [5 * MINUTE]
        assert columns(cluster.measure_one(topic, [0])).freshness_ms == [9 * MINUTE]
        end(True)
    clock.advance(1)
    found = columns(cluster.measure_one(topic, [1]))
    assert (found.reason, found.freshness_ms) == (["exact"], [5 * MINUTE + 1000])


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
