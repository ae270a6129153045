"""Source `zookeeper` on a real ZooKeeper and a real broker, alone and next to the offsets topic."""

import json
from collections.abc import Iterator

import pytest
from confluent_kafka import TopicPartition as Partition
from kazoo.client import KazooClient
from support.collector_lab import CLUSTER, Lab
from support.servers import embedded_zookeeper
from support.waiting import eventually
from support.zookeeper import EmbeddedZookeeper
from warren.errors import ClusterUnreachable
from warren.metrics import collector as metrics
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
