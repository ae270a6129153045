"""What goes wrong with one cluster stays there: the process, and the other clusters, go on."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition as Partition
from conftest import Broker
from support.collector_lab import CLUSTER, Events, Lab
from support.forgetful_broker import ForgetfulBroker
from support.two_brokers import create_replicated, lead_as_preferred, running_two_brokers
from support.waiting import eventually
from warren.errors import KafkaError
from warren.metrics import collector as metrics
from warren.settings import ClusterSettings, Settings
from warren_collector.cluster import stack
from warren_collector.logs.ends import LogEnds, LogEndsReader
from warren_collector.sources import offsets_topic
from warren_collector.sources.offsets_topic import OffsetsTopicSource
from warren_local.kafka import EmbeddedKafka

OTHER = "other"
FOLLOW = """
import sys
from warren.settings import ClusterSettings
from warren_collector.sources.offsets_topic import OffsetsTopicSource

settings = ClusterSettings(bootstrap=sys.argv[1], kafka={"debug": "cgrp,topic,fetch"})
source = OffsetsTopicSource("prod", "clusters.prod", settings, sys.argv[2], lambda _: None)
while not source.is_ready:
    source.poll(1.0)
source.close()
print("followed")
"""


def test_what_librdkafka_tells_during_a_rebalance_does_not_end_the_process(lab: Lab) -> None:
    """Its lines for debugging come by a callback, too, and some at any time."""
    lab.commit(f"{lab.name}-group", [Partition(lab.create_topic("orders"), 0, 1)])
    child = subprocess.run(
        [sys.executable, "-c", FOLLOW, lab.bootstrap, f"warren-{lab.name}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (child.returncode, child.stdout.split()[-1:]) == (0, ["followed"]), child.stderr[-1000:]


def test_ends_that_cannot_be_had_at_an_assignment(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.commit(f"{lab.name}-group", [Partition(lab.create_topic("orders"), 0, 1)])
    monkeypatch.setattr(offsets_topic, "RESOLVE_TIMEOUT", 1e-6)
    settings, group = ClusterSettings(bootstrap=lab.bootstrap), f"warren-{lab.name}"
    source = OffsetsTopicSource(CLUSTER, "clusters.prod", settings, group, lambda _: None)

    def is_told() -> bool:
        try:
            source.poll(0.2)
        except KafkaError:
            return True
        return False

    with closing(source):
        eventually(is_told, message="what is wrong is told as what it is")


def test_a_fault_ends_the_work_on_one_cluster_only_and_that_begins_anew(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack, "RESTART_AFTER", 1.0)
    read, faults = LogEndsReader.read, iter(range(2))

    def faulty(self: LogEndsReader, topics: set[str]) -> LogEnds:
        if self._metadata.cluster == OTHER and next(faults, None) is not None:
            raise ZeroDivisionError("nobody thought of that")
        return read(self, topics)

    monkeypatch.setattr(LogEndsReader, "read", faulty)
    before = {name: faults_of(name) for name in (CLUSTER, OTHER)}
    topic, group = lab.create_topic("orders"), f"{lab.name}-group"
    lab.commit(group, [Partition(topic, 0, 1)])
    with lab.collecting(with_other(lab)) as collector:
        events = lab.events()
        events.until(lambda: events.cluster_states().get(OTHER) == "failing", "a fault is told")
        assert "ZeroDivisionError" in events.problem(OTHER)
        assert "nobody" not in events.problem(OTHER)
        events.until(
            lambda: events.cluster_states() == {CLUSTER: "ok", OTHER: "ok"}, "both work (again)"
        )
        events.until(lambda: {e.cluster for e in events.of(group)} == {CLUSTER, OTHER}, "events")
        eventually(lambda: collector.is_ready, message="all is well")
    assert faults_of(OTHER) - before[OTHER] == 2
    assert faults_of(CLUSTER) == before[CLUSTER]


def faults_of(cluster: str) -> float:
    """The faults that this process has counted, those of other tests included."""
    return float(metrics.COLLECTOR_FAULTS.labels(cluster)._value.get())


def with_other(lab: Lab) -> Settings:
    """The same cluster under another name, too; asked, as its offsets topic is read already."""
    settings = lab.settings()
    other = lab.settings(source="admin_api").clusters[CLUSTER]
    clusters = {CLUSTER: settings.clusters[CLUSTER], OTHER: other}
    return settings.model_copy(update={"clusters": clusters})


# A cluster of two brokers: both are asked; when one ends, the other one has it all.


@pytest.fixture
def lab(two_brokers: tuple[EmbeddedKafka, EmbeddedKafka], unique: str) -> Iterator[Lab]:
    bootstrap = ",".join(broker.bootstrap for broker in two_brokers)
    with Lab.on(bootstrap, unique) as made:
        yield made


def test_leadership_moves(two_brokers: tuple[EmbeddedKafka, EmbeddedKafka], lab: Lab) -> None:
    _, second = two_brokers
    topic = f"{lab.name}-orders"
    create_replicated(lab.admin, topic)
    # So many that both brokers coordinate some of them, whatever their names.
    groups = [f"{lab.name}-{number}" for number in range(16)]
    with lab.ready(settings(lab)):
        events = lab.events()
        commit(lab, topic, groups, 1, 2)
        await_figures(events, topic, groups, committed=[1, 2], log_end=[5, 5])
        events.until(lambda: coordinators(events, groups) == {1, 2}, "both coordinate")
        second.stop()
        commit(lab, topic, groups, 3, 4)
        await_figures(events, topic, groups, committed=[3, 4], log_end=[10, 10])
        events.until(lambda: coordinators(events, groups) == {1}, "one coordinates them all")
        second.start()
        lead_as_preferred(lab.admin)
        commit(lab, topic, groups, 5, 6)
        await_figures(events, topic, groups, committed=[5, 6], log_end=[15, 15])
        events.until(lambda: coordinators(events, groups) == {1, 2}, "both coordinate again")
        events.until(lambda: events.cluster_states() == {CLUSTER: "ok"}, "the cluster is ok")
    assert not any(event.deleted or event.removed for event in events.all)


@pytest.mark.heavy
def test_one_out_of_reach_leaves_the_groups_of_the_other_judged(
    broker: Broker, pytestconfig: pytest.Config, tmp_path: Path, unique: str
) -> None:
    proxy = ForgetfulBroker()
    brokers = running_two_brokers(pytestconfig.rootpath, tmp_path, proxy.bootstrap)
    with brokers as (first, second), Lab.on(broker.bootstrap, unique) as home:
        proxy.serve(second.options.port)
        with Lab.on(first.bootstrap, unique) as lab, home.ready(settings(home, lab.bootstrap)):
            topic, groups = f"{lab.name}-orders", [f"{lab.name}-{number}" for number in range(16)]
            events = home.events()
            create_replicated(lab.admin, topic)
            commit(lab, topic, groups, 1, 2)
            await_figures(events, topic, groups, committed=[1, 2], log_end=[5, 5])
            events.until(lambda: coordinators(events, groups) == {1, 2}, "both coordinate")
            near = [g for g in groups if (e := events.state(g)) and e.coordinator == 1]
            named = f"broker 2 at {proxy.bootstrap} does not answer"
            proxy.close()
            for group in near:
                lab.commit(group, [Partition(topic, 0, 3)])
            await_figures(events, topic, near, committed=[3, 2], log_end=[5, -1])
            events.until(lambda: named in events.problem(CLUSTER), "it is named")
            assert events.cluster_states() == {CLUSTER: "partial"}
            far, told = set(groups) - set(near), len(events.all)
            more = told + 3 * len(near)
            events.until(lambda: len(events.all) > more, "the near ones are told of")
            assert not far & {event.group for event in events.all[told:]}


# Real clients that own partitions and never commit: who reads the events can tell them.


def settings(lab: Lab, bootstrap: str | None = None) -> Settings:
    made = lab.settings(bootstrap=bootstrap or lab.bootstrap)
    return made.model_copy(
        update={
            "collector": made.collector.model_copy(update={"describe_interval": 0.5}),
        }
    )


def commit(lab: Lab, topic: str, groups: list[str], *offsets: int) -> None:
    """Five more records in each partition, and then all groups commit these offsets."""
    for partition in range(len(offsets)):
        lab.produce(topic, [(None, b"record")] * 5, partition)
    for group in groups:
        lab.commit(group, [Partition(topic, p, offset) for p, offset in enumerate(offsets)])


def await_figures(
    events: Events, topic: str, groups: list[str], *, committed: list[int], log_end: list[int]
) -> None:
    def newest(group: str) -> tuple[list[int], list[int]] | None:
        told = [event.topics[topic] for event in events.of(group) if topic in event.topics]
        return (told[-1].committed, told[-1].log_end) if told else None

    events.until(
        lambda: (
            {group: newest(group) for group in groups}
            == dict.fromkeys(groups, (committed, log_end))
        ),
        f"all groups have committed {committed} of {log_end}",
    )


def coordinators(events: Events, groups: list[str]) -> set[int | None]:
    """Broker ids, as the groups' newest events have them."""
    return {state.coordinator for group in groups if (state := events.state(group)) is not None}
