"""A group that changes its protocol while it works, on a real broker."""

import os
import time

import support.coordinator_records as encode
from confluent_kafka import Producer, TopicPartition as Partition
from confluent_kafka.admin import NewTopic
from support.collector_lab import Events, Lab
from support.group_members import Members
from support.topic_configuration import configure
from support.waiting import eventually
from warren.contracts.topics import MAX_MESSAGE_BYTES

PARTITIONS = 4


def protocols(events: Events, group: str) -> list[str | None]:
    """What the group's events say that it is, each thing once; None for its end."""
    told = [None if e is None else e.protocol for e in events.groups.get(group, [])]
    return [one for one, before in zip(told, [*told[1:], object()], strict=True) if one != before]


def test_an_online_upgrade_ends_nothing(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    group = f"{lab.name}-group"

    def have(offset: int) -> bool:
        events.read()
        expected = {(topic, number): offset for number in range(PARTITIONS)}
        return events.committed(group) == expected

    def commit(offset: int) -> None:
        """Again and again: a partition may just be on its way from one member to another."""

        def is_told() -> bool:
            if not have(offset):
                members.commit(offset)
            return have(offset)

        members.until(is_told, f"{offset} is committed")

    def stands(protocol: str, count: int) -> bool:
        events.read()
        event = events.state(group)
        if event is None or (event.protocol, event.state) != (protocol, "Stable"):
            return False
        assigned = [p for m in event.members for p in m.assignment.get(topic, [])]
        return len(event.members) == count and sorted(assigned) == list(range(PARTITIONS))

    with lab.ready(lab.settings()):
        events, members = lab.events(), Members(lab, topic)
        old = [members.join(group), members.join(group, group_instance_id="till-1")]
        members.until(lambda: stands("classic", 2), "two classic members")
        for offset in (1, 2, 3):
            commit(offset)
        before = events.state(group)
        members.join(group, group_protocol="consumer")
        members.until(lambda: stands("consumer", 3), "the group has the new protocol")
        commit(4)
        for consumer in old:
            members.leave(consumer)
        members.join(group, group_protocol="consumer", group_instance_id="till-1")
        members.until(lambda: stands("consumer", 2), "two members of the new protocol")
        for offset in (5, 6):
            commit(offset)
        after = events.state(group)

    assert protocols(events, group) == ["classic", "consumer"]  # and nowhere an end
    assert before is not None
    assert after is not None
    assert after.generation > before.generation
    assert after.rebalances > before.rebalances
    assert not any(event.deleted or event.removed for event in events.of(group))


# Topics and partitions that are new, or made anew, and committed at once; on default settings.

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
    new = NewTopic(offsets_topic, 1, 1, config={"max.message.bytes": str(4 * MAX_MESSAGE_BYTES)})
    lab.admin.create_topics([new])[offsets_topic].result(30)
    producer = Producer(
        {"bootstrap.servers": lab.bootstrap, "message.max.bytes": 4 * MAX_MESSAGE_BYTES}
    )
    with lab.ready(lab.settings(offsets_topic)):
        events = lab.events()
        configure(lab.admin, f"{lab.prefix}dead-letters", {"max.message.bytes": KAFKAS_DEFAULT})
        for size in (6_500_000, 20_000_000):
            producer.produce(offsets_topic, os.urandom(size), b"\0")
        assert producer.flush(60) == 0
        events.until(lambda: len(events.letters) == 2, "both are dead letters")
        commit = encode.offset_key(group, orders, 0), encode.offset_value(7, 5)
        lab.produce(offsets_topic, [commit])
        events.until(lambda: events.committed(group) == {(orders, 0): 7}, "others are published")
    assert [letter.value_size for letter in events.letters] == [6_500_000, 20_000_000]
    assert all(letter.cut for letter in events.letters)


# What a collector tells at its very first start beside groups that have long been at work.


def test_the_first_event_has_what_was_before(lab: Lab) -> None:
    topic = lab.create_topic("orders")
    began = time.time()
    group = f"{lab.name}-billing"
    for offset in range(1, 5):
        lab.produce(topic, [(None, b"x")])
        lab.commit(group, [Partition(topic, 0, offset)])
        second = int(time.time())  # commits of one second are one
        eventually(lambda s=second: time.time() > s + 1, message="the next second")
    lab.produce(topic, [(None, b"x")])
    events = lab.events()
    with lab.ready(lab.settings()):
        events.until(lambda: len(events.of(group)) > 1, "two events")
    first, *others = events.of(group)
    assert first.earlier is not None
    told = first.earlier[topic]
    assert (told.partition, told.committed) == ([0], [[1, 2, 3]])
    (times,) = told.committed_at
    assert times == sorted(times)
    assert began - 1 < times[0] / 1000 < time.time()
    # The log begins with the test: whatever is known of the past lies in it.
    assert set(told.log_end[0]) <= {0, *range(6)}
    assert all(event.earlier is None for event in others)


def test_a_group_that_comes_to_a_known_topic_is_told_where_its_log_ended(lab: Lab) -> None:
    topic, group = lab.create_topic("orders"), f"{lab.name}-late"
    lab.produce(topic, [(None, b"x")] * 7)
    events = lab.events()
    with lab.ready(lab.settings()):
        # Nobody consumes the topic; the collector looks at it all the same.
        events.until(lambda: events.cluster_states() == {"prod": "ok"}, "the collector works")
        lab.produce(topic, [(None, b"x")] * 2)
        lab.commit(group, [Partition(topic, 0, 8)])
        events.until(lambda: events.of(group), "its first event")
    first = events.of(group)[0]
    assert first.topics[topic].log_end == [9]
    assert first.earlier is not None
    assert first.earlier[topic].log_end[0][-1:] == [7]
