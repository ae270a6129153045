"""Commits by transactions of real clients: isolated as Kafka's coordinator does it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka import TopicPartition as Partition
from support.collector_lab import CLUSTER, Events, Lab
from support.collector_process import collector_process
from support.transactions import (
    TransactionalClient,
    killed_with_an_open_transaction,
    neighbours,
)


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
