"""What goes wrong with one cluster stays there: the process, and the other clusters, go on."""

import subprocess
import sys
from contextlib import closing

import pytest
from confluent_kafka import TopicPartition as Partition
from support.collector_lab import CLUSTER, Lab
from support.waiting import eventually
from warren.errors import KafkaError
from warren.metrics import collector as metrics
from warren.settings import ClusterSettings, Settings
from warren_collector.cluster import stack
from warren_collector.logs.ends import LogEnds, LogEndsReader
from warren_collector.sources import offsets_topic
from warren_collector.sources.offsets_topic import OffsetsTopicSource

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
