"""Source `zookeeper` on a real ZooKeeper and a real broker, alone and next to the offsets topic."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from confluent_kafka import TopicPartition as Partition
from kazoo.client import KazooClient
from support.collector_lab import CLUSTER, Events, Lab
from support.group_members import Members
from support.servers import embedded_zookeeper
from support.waiting import eventually
from support.zookeeper import EmbeddedZookeeper
from warren.contracts import OffsetEvent
from warren.errors import ClusterUnreachable
from warren.metrics import collector as metrics
from warren.settings import Settings
from warren_collector.sources.zookeeper import ZookeeperClient
from warren_local.server import free_port


@pytest.fixture(scope="module")
def zookeeper(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedZookeeper]:
    with embedded_zookeeper(pytestconfig.rootpath, tmp_path_factory.mktemp("zk")) as running:
        yield running


@pytest.fixture
def tree(zookeeper: EmbeddedZookeeper) -> Iterator[KazooClient]:
    client = KazooClient(zookeeper.hosts)
    client.start(30)
    yield client
    client.stop()
    client.close()


def commit(tree: KazooClient, group: str, topic: str, partition: int, offset: int) -> int:
    """As an old consumer does; the time of the commit."""
    path = f"/consumers/{group}/offsets/{topic}/{partition}"
    tree.ensure_path(path)
    return int(tree.set(path, str(offset).encode()).mtime)


def test_commits_deletions_and_nodes_that_are_no_offsets(
    lab: Lab, zookeeper: EmbeddedZookeeper, tree: KazooClient
) -> None:
    topic = lab.create_topic("orders", 3)
    lab.produce(topic, [(None, b"x")] * 9, 1)
    group, bad = f"{lab.name}-old", f"{lab.name}-bad"
    zeroth, first = commit(tree, group, topic, 0, 0), commit(tree, group, topic, 1, 5)
    tree.ensure_path(f"/consumers/{bad}/offsets/{topic}/x")
    tree.create(f"/consumers/{bad}/offsets/{topic}/0", b"seven")
    commit(tree, "denied", topic, 0, 1)
    settings = lab.settings(source="zookeeper", zookeeper=zookeeper.hosts)
    with lab.ready(settings):
        events = lab.events()
        events.until(lambda: events.of(group), "the group is published")
        event = events.of(group)[-1]
        columns = event.topics[topic]
        assert (event.source, event.position) == ("zookeeper", -1)
        assert (columns.committed, columns.committed_at) == ([0, 5, -1], [zeroth, first, -1])
        assert columns.log_end == [0, 9, 0]

        second = commit(tree, group, topic, 1, 8)
        events.until(
            lambda: events.committed(group) == {(topic, 0): 0, (topic, 1): 8}, "the next commit"
        )
        assert events.of(group)[-1].topics[topic].committed_at[1] == second
        assert events.commits(group) == 3
        commit(tree, group, topic, 1, 8)
        events.until(lambda: events.commits(group) == 4, "the same offset, committed again")

        tree.delete(f"/consumers/{group}", recursive=True)
        events.until(lambda: events.of(group)[-1].deleted, "its deletion is published")
        assert {event.group for event in events.all} == {group}


def register(tree: KazooClient, group: str, consumer: str, *topics: str) -> None:
    """As an old consumer announces itself."""
    wants = {"version": 1, "subscription": dict.fromkeys(topics, 1), "pattern": "static"}
    path = f"/consumers/{group}/ids/{consumer}"
    tree.create(path, json.dumps(wants).encode(), ephemeral=True, makepath=True)


def own(tree: KazooClient, group: str, topic: str, partition: int, consumer: str) -> None:
    path = f"/consumers/{group}/owners/{topic}/{partition}"
    tree.create(path, f"{consumer}-0".encode(), ephemeral=True, makepath=True)


def test_members_are_the_owners(lab: Lab, zookeeper: EmbeddedZookeeper, tree: KazooClient) -> None:
    topic = lab.create_topic("orders", 3)
    group = f"{lab.name}-old"
    one, two, idle = (f"{group}_host-{name}-1795244400123-0a1b2c3d" for name in ("1", "2", "3"))
    for consumer in (one, two, idle):
        register(tree, group, consumer, topic)
    own(tree, group, topic, 0, one)
    own(tree, group, topic, 2, two)
    settings = lab.settings(source=["zookeeper", "offsets_topic"], zookeeper=zookeeper.hosts)
    collector = settings.collector.model_copy(update={"describe_interval": 0.5})
    with lab.ready(settings.model_copy(update={"collector": collector})):
        events = lab.events()
        events.until(lambda: events.state(group), "a group without commits is told of, too")
        event = events.state(group)
        assert event is not None
        assert (event.protocol, event.protocol_type, event.state) == (
            "classic",
            "consumer",
            "Stable",
        )
        assert [(m.member_id, m.host, m.assignment) for m in event.members] == [
            (one, "host-1", {topic: [0]}),
            (two, "host-2", {topic: [2]}),
            (idle, "host-3", {}),
        ]
        assert (event.idle_members, event.assignment_skew) == (1, 1.5)
        assert event.unowned == {topic: [1]}

        tree.delete(f"/consumers/{group}/ids/{idle}")
        own(tree, group, topic, 1, two)
        events.until(lambda: (state := events.state(group)) and not state.unowned, "owned by all")
        changed = events.state(group)
        assert changed is not None
        assert changed.members[1].assignment == {topic: [1, 2]}
        assert changed.idle_members == 0
        assert changed.rebalances in (1, 2)  # both changes at once, or one after the other
        tree.delete(f"/consumers/{group}", recursive=True)
        events.until(lambda: events.groups[group][-1] is None, "a tombstone")


@pytest.mark.heavy
def test_a_zookeeper_that_is_away_leaves_the_other_source_alone(lab: Lab) -> None:
    topic = lab.create_topic("orders")
    group = f"{lab.name}-group"
    lab.commit(group, [Partition(topic, 0, 1)])
    away = f"127.0.0.1:{free_port()}"
    settings = lab.settings(source=["offsets_topic", "zookeeper"], zookeeper=away)
    failures = metrics.COLLECTOR_SOURCE_FAILURES.labels(CLUSTER, "zookeeper")
    before = failures._value.get()
    with lab.collecting(settings) as collector:
        name = f"{lab.prefix}offsets"
        eventually(lambda: name in lab.admin.list_topics(timeout=30).topics, message=name)
        events = lab.events()
        events.until(lambda: events.committed(group) == {(topic, 0): 1}, "what Kafka has")
        eventually(lambda: failures._value.get() > before, message="the failure is counted")
        assert not collector.is_ready
        events.until(
            lambda: events.cluster_states().get(CLUSTER) == "partial", "the cluster's state"
        )
        assert f"clusters.{CLUSTER}.zookeeper" in events.problem(CLUSTER)


def test_errors_name_the_setting() -> None:
    client = ZookeeperClient("old", "clusters.old", f"127.0.0.1:{free_port()}", timeout=0.5)
    with pytest.raises(ClusterUnreachable) as raised:
        list(client.children(["/consumers"]))
    assert raised.value.setting == "clusters.old.zookeeper"
    assert "no ZooKeeper answers at 127.0.0.1" in raised.value.problem


# Source `admin_api` on a real broker: its events say what those of `offsets_topic` say.

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
