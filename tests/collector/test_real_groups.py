"""Real clients commit to a real coordinator; the events say what the Admin API says."""

from __future__ import annotations

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import NewPartitions, OffsetSpec
from support.collector_lab import Events, Lab
from support.waiting import eventually
from warren_collector.logs import metadata

PARTITIONS = 3
LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # as confluent-kafka has it


def fill(lab: Lab, topic: str, each: int) -> None:
    for partition in range(PARTITIONS):
        lab.produce(topic, [(None, b"x")] * each, partition)


def consume(lab: Lab, topic: str, group: str, count: int, **options: str | bool) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": lab.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **options,
        }
    )
    lab.closing.callback(consumer.close)
    consumer.subscribe([topic])
    seen = 0

    def has_read() -> bool:
        nonlocal seen
        seen += sum(1 for m in consumer.consume(count - seen, 0.2) if m.error() is None)
        return seen >= count

    eventually(has_read, message=f"{group} reads {count} records")
    return consumer


def admin_committed(lab: Lab, group: str) -> dict[tuple[str, int], int]:
    request = [ConsumerGroupTopicPartitions(group)]
    offsets = lab.admin.list_consumer_group_offsets(request)[group].result(30).topic_partitions
    return {(p.topic, p.partition): p.offset for p in offsets or []}


def admin_ends(lab: Lab, topic: str) -> list[int]:
    wanted = {TopicPartition(topic, p): LATEST for p in range(PARTITIONS)}
    answers = lab.admin.list_offsets(wanted, isolation_level=IsolationLevel.READ_UNCOMMITTED)
    ends = {p.partition: answer.result(30).offset for p, answer in answers.items()}
    return [ends[p] for p in range(PARTITIONS)]


def assert_as_admin_says(lab: Lab, events: Events, topic: str, group: str) -> None:
    expected = eventually(lambda: admin_committed(lab, group), message=f"{group} has committed")
    events.until(
        lambda: events.of(group) and events.committed(group) == expected,
        f"the events of {group} agree with the Admin API",
    )
    newest = events.of(group)[-1].topics[topic]
    assert newest.partition == list(range(PARTITIONS))
    assert newest.log_end == admin_ends(lab, topic)
    assert newest.log_start == [0] * PARTITIONS


def test_how_far_the_log_is_stable_where_a_reader_of_committed_records_stands(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    fill(lab, topic, each=5)
    with lab.ready(lab.settings()):
        consumer = consume(lab, topic, lab.name, 15, **{"isolation.level": "read_committed"})
        consumer.commit(asynchronous=False)
        producer = Producer({"bootstrap.servers": lab.bootstrap, "transactional.id": lab.name})
        producer.init_transactions(30)
        producer.begin_transaction()
        for _ in range(7):
            producer.produce(topic, b"y", partition=1)
        assert producer.flush(30) == 0
        wanted = {TopicPartition(topic, 1): LATEST}
        stable = lab.admin.list_offsets(wanted, isolation_level=IsolationLevel.READ_COMMITTED)
        assert next(iter(stable.values())).result(30).offset == 5
        events = lab.events()

        def last_stable() -> list[int] | None:
            told = events.of(lab.name)
            return told[-1].topics[topic].last_stable if told else None

        events.until(lambda: last_stable() == [-1, 5, -1], "the open transaction is told")
        assert events.of(lab.name)[-1].topics[topic].log_end == [5, 12, 5]
        producer.abort_transaction(30)
        events.until(lambda: last_stable() is None, "its end is told")


def test_every_way_to_commit(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    fill(lab, topic, each=5)
    with lab.ready(lab.settings()):
        events = lab.events()
        for protocol in ("classic", "consumer"):
            group = f"{lab.name}-{protocol}"
            options = {"group.protocol": protocol}
            consume(lab, topic, group, 9, **options).commit(asynchronous=False)
            assert_as_admin_says(lab, events, topic, group)

        transactional = f"{lab.name}-transactional"
        producer = Producer({"bootstrap.servers": lab.bootstrap, "transactional.id": lab.name})
        producer.init_transactions()
        consumer = consume(lab, topic, transactional, 7)
        producer.begin_transaction()
        producer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
        )
        producer.commit_transaction()
        assert_as_admin_says(lab, events, topic, transactional)

        altered = f"{lab.name}-altered"
        lab.commit(altered, [TopicPartition(topic, 0, 2), TopicPartition(topic, 2, 4)])
        assert_as_admin_says(lab, events, topic, altered)
        assert events.of(altered)[-1].topics[topic].committed == [2, -1, 4]


def test_an_aborted_transaction_commits_nothing(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    fill(lab, topic, each=2)
    group = f"{lab.name}-group"
    consumer = consume(lab, topic, group, 6)
    with lab.ready(lab.settings()):
        events = lab.events()
        producer = Producer({"bootstrap.servers": lab.bootstrap, "transactional.id": lab.name})
        producer.init_transactions()
        producer.begin_transaction()
        producer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
        )
        producer.abort_transaction()
        consumer.close()
        lab.commit(group, [TopicPartition(topic, 0, 1)])
        events.until(lambda: events.of(group), "the commit after the abort is published")
        assert events.committed(group) == {(topic, 0): 1}
        assert events.commits(group) == 1


def test_whether_somebody_is_there_goes_with_the_positions(lab: Lab) -> None:
    """A member, one that left, and a consumer that assigns partitions to itself."""
    topic = lab.create_topic("orders", PARTITIONS)
    fill(lab, topic, 2)
    subscribed, assigned = f"{lab.name}-subscribed", f"{lab.name}-assigned"
    consumer = consume(lab, topic, subscribed, 2 * PARTITIONS)
    consumer.commit(asynchronous=False)
    lab.commit(assigned, [TopicPartition(topic, 1, 0)])

    def state(events: Events, group: str) -> str | None:
        return events.of(group)[-1].group_state

    with lab.ready(lab.settings()):
        events = lab.events()
        events.until(
            lambda: events.of(subscribed) and state(events, subscribed) == "Stable",
            "it has a member",
        )
        events.until(lambda: events.of(assigned), "the other group is published")
        assert state(events, assigned) is None
        consumer.close()
        events.until(lambda: state(events, subscribed) == "Empty", "its member has left")
        assert state(events, assigned) is None


def test_a_deleted_group_is_deleted(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    group = f"{lab.name}-group"
    lab.commit(group, [TopicPartition(topic, 1, 0)])
    with lab.ready(lab.settings()):
        events = lab.events()
        events.until(lambda: events.committed(group), "the group is published")
        lab.admin.delete_consumer_groups([group])[group].result(30)
        events.until(lambda: events.of(group)[-1].deleted, "its deletion is published")
        assert events.of(group)[-1].removed == {topic: [1]}
        assert events.committed(group) == {}


def test_a_deleted_topic_is_removed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "MAX_AGE", 0.5)
    stays, goes = lab.create_topic("stays", PARTITIONS), lab.create_topic("goes", PARTITIONS)
    group = f"{lab.name}-group"
    lab.commit(group, [TopicPartition(stays, 0, 0), TopicPartition(goes, 1, 0)])
    with lab.ready(lab.settings()):
        events = lab.events()
        events.until(lambda: len(events.committed(group)) == 2, "both topics are published")
        lab.admin.delete_topics([goes])[goes].result(30)
        events.until(lambda: events.committed(group) == {(stays, 0): 0}, "the topic is gone")
        assert not any(event.deleted for event in events.of(group))
        assert goes not in lab.admin.list_topics(timeout=30).topics


def test_a_topic_that_grows_is_followed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "MAX_AGE", 0.5)
    topic = lab.create_topic("orders", 1)
    group = f"{lab.name}-group"
    lab.commit(group, [TopicPartition(topic, 0, 0)])
    with lab.ready(lab.settings()):
        events = lab.events()
        events.until(lambda: events.of(group), "the group is published")
        assert events.of(group)[-1].topics[topic].partition == [0]
        lab.admin.create_partitions([NewPartitions(topic, PARTITIONS)])[topic].result(30)
        events.until(
            lambda: events.of(group)[-1].topics[topic].partition == [0, 1, 2],
            "the new partitions are listed",
        )
