"""Commits by transactions of real clients: isolated as Kafka's coordinator does it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition as Partition
from support.collector_lab import CLUSTER, Events, Lab
from support.collector_process import collector_process
from support.record_batches import marker
from support.transactions import (
    TransactionalClient,
    killed_with_an_open_transaction,
    neighbours,
)
from warren_collector.sources.unstable_tails import OpenTransactions
from warren_wire.record_batches import decoded_batches


@pytest.fixture
def topic(lab: Lab) -> str:
    name = lab.create_topic("orders")
    lab.produce(name, [(None, b"x")] * 100)
    return name


@pytest.fixture
def groups(lab: Lab, topic: str) -> list[str]:
    """Four with their records in one partition of the offsets topic; the last has committed."""
    lab.commit(f"{lab.name}-first", [Partition(topic, 0, 1)])  # now there is an offsets topic
    partitions = len(
        lab.admin.list_topics("__consumer_offsets", 30).topics["__consumer_offsets"].partitions
    )
    groups = neighbours(partitions, lab.name, 4)
    lab.commit(groups[-1], [Partition(topic, 0, 1)])
    return groups


def told_by_kafka(lab: Lab, groups: Sequence[str], topic: str) -> dict[str, int]:
    """Committed offsets as the Admin API has them, of groups that have one."""
    found = {}
    for group in groups:
        requested = [ConsumerGroupTopicPartitions(group, [Partition(topic, 0)])]
        answer = lab.admin.list_consumer_group_offsets(requested)[group].result(30)
        for partition in answer.topic_partitions or []:
            if partition.offset >= 0:
                found[group] = partition.offset
    return found


def until_told(
    lab: Lab, events: Events, groups: Sequence[str], topic: str, **expected: int
) -> None:
    """Until events say what Kafka says; `expected` by the group's index, as `g0=1`."""
    wanted = {groups[int(name[1:])]: offset for name, offset in expected.items()}

    def told() -> dict[str, int]:
        return {group: found[topic, 0] for group in groups if (found := events.committed(group))}

    events.until(lambda: told() == wanted, f"the events tell {expected}", timeout=30)
    assert told_by_kafka(lab, groups, topic) == wanted


@pytest.mark.heavy
def test_neighbours_of_a_client_that_died_in_its_transaction(
    lab: Lab, topic: str, groups: list[str]
) -> None:
    dead, aborted, *_ = groups
    with lab.ready(lab.settings()):
        events = lab.events()
        until_told(lab, events, groups, topic, g3=1)
        with killed_with_an_open_transaction(
            lab.bootstrap, lab.name, [dead, aborted], topic, offset=50
        ):
            for offset in range(2, 12):
                lab.commit(groups[3], [Partition(topic, 0, offset)])
                until_told(lab, events, groups, topic, g3=offset)
            lab.commit(groups[2], [Partition(topic, 0, 20)])
            until_told(lab, events, groups, topic, g2=20, g3=11)
            lab.commit(aborted, [Partition(topic, 0, 30)])
            until_told(lab, events, groups, topic, g1=30, g2=20, g3=11)
            # But for the collector's own newest commit, which may be in one of the partitions.
            events.until(lambda: backlog(events) <= 1, "nothing is waiting")
            assert events.cluster_states() == {CLUSTER: "ok"}
        for offset in range(12, 15):
            lab.commit(groups[3], [Partition(topic, 0, offset)])
            until_told(lab, events, groups, topic, g1=30, g2=20, g3=offset)
    assert events.commits(groups[3]) == 13
    assert events.commits(groups[2]) == 1
    assert events.commits(aborted) == 1
    assert events.of(dead) == []


def backlog(events: Events) -> int:
    return sum(event.backlog for event in events.clusters.values() if event)


def test_a_transaction_counts_when_it_is_committed_and_the_newest_record_wins(
    lab: Lab, topic: str, groups: list[str]
) -> None:
    client = TransactionalClient(lab.bootstrap, lab.name)
    with lab.ready(lab.settings()):
        events = lab.events()
        client.begin()
        for group in groups[:2]:
            client.send(group, [Partition(topic, 0, 40)])
        lab.commit(groups[0], [Partition(topic, 0, 60)])  # later than what the transaction has
        lab.commit(groups[3], [Partition(topic, 0, 2)])
        until_told(lab, events, groups, topic, g0=60, g3=2)
        client.commit()
        until_told(lab, events, groups, topic, g0=60, g1=40, g3=2)
        for offset in range(41, 44):  # quick ones, as most are
            client.begin()
            client.send(groups[1], [Partition(topic, 0, offset)])
            client.commit()
        client.begin()
        client.send(groups[1], [Partition(topic, 0, 99)])
        lab.commit(groups[3], [Partition(topic, 0, 3)])
        until_told(lab, events, groups, topic, g0=60, g1=43, g3=3)
        client.abort()
        lab.commit(groups[3], [Partition(topic, 0, 4)])
        until_told(lab, events, groups, topic, g0=60, g1=43, g3=4)
    assert events.commits(groups[0]) == 1
    assert events.commits(groups[1]) == 4
    assert events.commits(groups[3]) == 3


@pytest.mark.heavy
def test_what_is_pending_survives_collectors(lab: Lab, topic: str, groups: list[str]) -> None:
    """Nothing that was counted is counted once more, and what comes to count is counted once."""
    client = TransactionalClient(lab.bootstrap, lab.name)
    events = lab.events()
    with lab.ready(lab.settings()):
        until_told(lab, events, groups, topic, g3=1)
        client.begin()
        client.send(groups[0], [Partition(topic, 0, 40)])
        lab.commit(groups[3], [Partition(topic, 0, 2)])
        until_told(lab, events, groups, topic, g3=2)
    client.send(groups[1], [Partition(topic, 0, 41)])
    lab.commit(groups[2], [Partition(topic, 0, 20)])
    with lab.ready(lab.settings()):
        until_told(lab, events, groups, topic, g2=20, g3=2)
    with lab.ready(lab.settings()), lab.ready(lab.settings()):
        lab.commit(groups[3], [Partition(topic, 0, 3)])
        until_told(lab, events, groups, topic, g2=20, g3=3)
    client.commit()
    with lab.ready(lab.settings()):
        until_told(lab, events, groups, topic, g0=40, g1=41, g2=20, g3=3)
    assert [events.commits(group) for group in groups] == [1, 1, 1, 2]


@pytest.mark.heavy
def test_a_collector_that_is_killed_while_a_transaction_is_open(
    lab: Lab, topic: str, groups: list[str], tmp_path: Path
) -> None:
    client = TransactionalClient(lab.bootstrap, lab.name)
    events = lab.events()
    with collector_process(lab.settings(), CLUSTER, tmp_path) as collector:
        until_told(lab, events, groups, topic, g3=1)
        client.begin()
        client.send(groups[0], [Partition(topic, 0, 40)])
        for offset in range(2, 6):
            lab.commit(groups[3], [Partition(topic, 0, offset)])
            until_told(lab, events, groups, topic, g3=offset)
        collector.kill()
    client.commit()
    lab.commit(groups[3], [Partition(topic, 0, 6)])
    with lab.ready(lab.settings()):
        until_told(lab, events, groups, topic, g0=40, g3=6)
    assert events.commits(groups[0]) == 1
    assert events.commits(groups[3]) - 5 in (0, 1)  # the last tick may have been repeated


PLAIN = -1


def written(base: int, keys: list[bytes], producer: int = PLAIN) -> bytes:
    builder = DefaultRecordBatchBuilder(2, 0, producer != PLAIN, producer, 0, 0, 1 << 20)
    for at, key in enumerate(keys):
        builder.append(at, 1, key, b"value", [])
    content = bytearray(builder.build())
    content[:8] = base.to_bytes(8)
    return bytes(content)


def seen(transactions: OpenTransactions, *batches: bytes) -> list[tuple[int, int]]:
    """Offset of each record that became visible, and since which offset it is."""
    return [
        (one.record.offset, one.since)
        for batch in decoded_batches(b"".join(batches))
        for one in transactions.take(batch)
    ]


def test_plain_records_are_visible_at_once() -> None:
    transactions = OpenTransactions(10)
    assert seen(transactions, written(10, [b"a", b"b"])) == [(10, 10), (11, 11)]
    assert (transactions.position, transactions.pending) == (12, 0)


def test_records_before_the_start_are_none_of_ours() -> None:
    """A response begins with the batch that holds the wanted offset."""
    assert seen(OpenTransactions(11), written(10, [b"a", b"b"])) == [(11, 11)]


def test_a_transactions_records_are_visible_since_its_marker() -> None:
    transactions = OpenTransactions(0)
    assert seen(transactions, written(0, [b"a", b"b"], producer=7), written(2, [b"c"])) == [(2, 2)]
    assert transactions.pending == 2
    assert seen(transactions, marker(3, 7, commit=True)) == [(0, 3), (1, 3)]
    assert (transactions.position, transactions.pending) == (4, 0)


def test_what_is_aborted_is_never_visible() -> None:
    transactions = OpenTransactions(0)
    records = seen(
        transactions,
        written(0, [b"a"], producer=7),
        written(1, [b"a"], producer=8),
        marker(2, 7, commit=False),
        marker(3, 8, commit=True),
        written(4, [b"b"], producer=7),
    )
    assert records == [(1, 3)]
    assert transactions.pending == 1


def test_a_marker_without_records_and_other_control_records_end_nothing() -> None:
    transactions = OpenTransactions(0)
    content = written(0, [b"a"], producer=7) + marker(1, 7, commit=True, kind=5)
    assert seen(transactions, content, marker(2, 9, commit=True)) == []
    assert transactions.pending == 1


def test_of_each_key_the_record_that_was_written_last_wins() -> None:
    transactions = OpenTransactions(0)
    records = seen(
        transactions,
        written(0, [b"a", b"b", b"c"], producer=7),
        written(3, [b"a"]),
        written(4, [b"c"], producer=8),
        marker(5, 8, commit=True),
        marker(6, 7, commit=True),
    )
    assert records == [(3, 3), (4, 5), (1, 6)]


def test_what_is_decided_is_not_kept() -> None:
    transactions = OpenTransactions(0)
    seen(transactions, *(written(at, [b"%d" % at]) for at in range(10)))
    assert len(newest(transactions)) == 10
    transactions.decide(8)
    assert newest(transactions) == {b"8": 8, b"9": 9}


def newest(transactions: OpenTransactions) -> Mapping[bytes | None, int]:
    return transactions._newest
