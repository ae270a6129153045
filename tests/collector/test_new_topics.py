"""Topics and partitions that are new, or made anew, and committed at once; on default settings."""

import os

import support.coordinator_records as encode
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as Partition
from confluent_kafka.admin import NewTopic
from support.collector_lab import Events, Lab
from support.waiting import eventually
from warren.contracts.topics import MAX_MESSAGE_BYTES

KAFKAS_DEFAULT = "1048588"  # less than the catalogue has


def newest_ends(events: Events, group: str, topic: str) -> list[int] | None:
    told = [event.topics[topic] for event in events.of(group) if topic in event.topics]
    return told[-1].log_end if told else None


def test_a_topic_made_anew_is_followed_from_its_first_commit(lab: Lab) -> None:
    orders, stays, group = (
        lab.create_topic("orders"),
        lab.create_topic("stays"),
        f"{lab.name}-group",
    )
    lab.produce(orders, [(None, b"x")] * 9)
    lab.commit(group, [Partition(orders, 0, 9), Partition(stays, 0, 0)])
    with lab.ready(lab.settings()):
        events = lab.events()
        events.until(lambda: newest_ends(events, group, orders) == [9], "the group is published")
        for partitions in (3, 2, 4):
            lab.admin.delete_topics([orders])[orders].result(30)
            eventually(
                lambda: orders not in lab.admin.list_topics(timeout=30).topics, message="it is gone"
            )
            events.until(lambda: (orders, 0) not in events.committed(group), "its end is published")
            lab.admin.create_topics([NewTopic(orders, partitions, 1)])[orders].result(30)
            lab.produce(orders, [(None, b"x")] * 2)
            last = partitions - 1
            expected = {(orders, 0): 1, (orders, last): 0, (stays, 0): 0}
            anew = len(events.read())
            lab.commit(group, [Partition(orders, 0, 1), Partition(orders, last, 0)])
            events.until(
                lambda expected=expected: events.committed(group) == expected,
                "what was committed is published",
            )
            told = [event for event in events.all[anew:] if event.group == group]
            assert not any(event.removed or event.deleted for event in told)
            assert newest_ends(events, group, orders) == [2] + [0] * last


def test_a_malformed_record_of_any_size_becomes_a_dead_letter_and_stops_nobody(lab: Lab) -> None:
    orders, group = lab.create_topic("orders"), f"{lab.name}-group"
    offsets_topic = f"{lab.name}-offsets"
    largest = {"max.message.bytes": str(4 * MAX_MESSAGE_BYTES)}
    new = NewTopic(offsets_topic, 1, 1, config=largest)
    lab.admin.create_topics([new])[offsets_topic].result(30)
    producer = Producer(
        {"bootstrap.servers": lab.bootstrap, "message.max.bytes": 4 * MAX_MESSAGE_BYTES}
    )
    with lab.ready(lab.settings(offsets_topic)):
        events = lab.events()
        lab.configure(f"{lab.prefix}dead-letters", {"max.message.bytes": KAFKAS_DEFAULT})
        for size in (6_500_000, 20_000_000):
            producer.produce(offsets_topic, os.urandom(size), b"\0")
        assert producer.flush(60) == 0
        events.until(lambda: len(events.letters) == 2, "both are dead letters")
        commit = encode.offset_key(group, orders, 0), encode.offset_value(7, 5)
        lab.produce(offsets_topic, [commit])
        events.until(lambda: events.committed(group) == {(orders, 0): 7}, "others are published")
    assert [letter.value_size for letter in events.letters] == [6_500_000, 20_000_000]
    assert all(letter.cut for letter in events.letters)
