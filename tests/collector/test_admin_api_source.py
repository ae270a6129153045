"""Source `admin_api` on a real broker: its events say what those of `offsets_topic` say."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from confluent_kafka import TopicPartition as Partition
from support.collector_lab import CLUSTER, Events, Lab
from support.group_members import Members
from support.waiting import eventually
from warren.contracts import OffsetEvent
from warren.settings import Settings

PARTITIONS = 3
GROUPS = 8


def other(lab: Lab) -> Lab:
    """The same groups and another place for the events."""
    return replace(lab, name=f"{lab.name}-asked")


def asking(lab: Lab, watched: Lab, **cluster: object) -> Settings:
    return lab.settings(source="admin_api", groups_allow=[watched.name], **cluster)


def newest(events: Events, group: str) -> OffsetEvent:
    return events.of(group)[-1]


def agree(one: Events, another: Events) -> Callable[[], bool]:
    def do() -> bool:
        one.read()
        another.read()
        groups = {event.group for event in one.all}
        return groups == {event.group for event in another.all} and all(
            one.committed(group) == another.committed(group)
            and newest(one, group).topics.keys() == newest(another, group).topics.keys()
            for group in groups
        )

    return do


def test_it_says_what_the_offsets_topic_says(lab: Lab) -> None:
    topic, second = lab.create_topic("orders", PARTITIONS), lab.create_topic("bills", 1)
    for partition in range(PARTITIONS):
        lab.produce(topic, [(None, b"x")] * 4, partition)
    requested = other(lab)
    members = Members(lab, topic)
    for protocol in ("classic", "consumer"):
        one = members.join(f"{lab.name}-{protocol} | ü/{protocol}", group_protocol=protocol)
        members.until(one.assignment, "it has partitions")
    for number in range(GROUPS):
        commits = [Partition(topic, 1, number), Partition(second, 0, 0)]
        lab.commit(f"{lab.name}-{number}", commits)
    with lab.ready(lab.settings()), requested.ready(asking(requested, lab)):
        read_events, asked_events = lab.events(), requested.events()
        members.commit(4)
        lab.commit(f"{lab.name}-0", [Partition(topic, 2, 3, metadata="with metadata")])
        eventually(
            lambda: (
                len({event.group for event in read_events.read()}) == GROUPS + 2
                and (topic, 2) in read_events.committed(f"{lab.name}-0")
                and agree(read_events, asked_events)()
            ),
            message="both say the same",
        )
        for group in {event.group for event in read_events.all}:
            one, two = newest(read_events, group), newest(asked_events, group)
            assert (two.source, two.position) == ("admin_api", -1)
            for name, columns in one.topics.items():
                assert columns.log_end == two.topics[name].log_end
                assert columns.partition == two.topics[name].partition
        changed = newest(asked_events, f"{lab.name}-0").topics[topic]
        assert changed.committed == [-1, 0, 3]
        # Those that were there before are no commits; they are as old as the first look.
        assert asked_events.commits(f"{lab.name}-1") == 0
        assert asked_events.commits(f"{lab.name}-0") == 1
        assert changed.committed_at[2] > changed.committed_at[1]

        lab.admin.delete_consumer_groups([f"{lab.name}-1"])[f"{lab.name}-1"].result(30)
        asked_events.until(lambda: newest(asked_events, f"{lab.name}-1").deleted, "its deletion")
        assert newest(asked_events, f"{lab.name}-1").removed == {topic: [1], second: [0]}
        eventually(agree(read_events, asked_events), message="both say so")


@pytest.mark.heavy
def test_two_collectors_share_the_groups_and_take_over(lab: Lab) -> None:
    topic = lab.create_topic("orders")
    groups = [f"{lab.name}-{number}" for number in range(GROUPS)]
    settings = asking(lab, lab)
    for group in groups:
        lab.commit(group, [Partition(topic, 0, 1)])

    def shards() -> list[int]:
        name = f"{settings.collector.group_id}-{CLUSTER}"
        members = lab.admin.describe_consumer_groups([name])[name].result(30).members
        return sorted(len(m.assignment.topic_partitions) for m in members if m.assignment)

    with lab.ready(settings):
        events = lab.events()
        with lab.ready(settings):
            eventually(lambda: shards() == [1, 1], message="each has a shard")
            for group in groups:
                lab.commit(group, [Partition(topic, 0, 2)])
            events.until(
                lambda: all(events.committed(group) == {(topic, 0): 2} for group in groups),
                "both publish",
            )
        for group in groups:
            lab.commit(group, [Partition(topic, 0, 3)])
        events.until(
            lambda: all(events.committed(group) == {(topic, 0): 3} for group in groups),
            "the first publishes all",
        )
    for group in groups:
        seen = [event.observed_at for event in events.of(group)]
        assert seen == sorted(set(seen))
