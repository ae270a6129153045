"""The service between its topics, on a real broker."""

import time

import pytest
from freshness.events import CLUSTER, GROUP, At, offset_event
from freshness.service_lab import ServiceLab
from freshness.timed_logs import MINUTE, TimedLogs
from structlog.testing import capture_logs
from support.waiting import eventually
from warren.contracts import OffsetEvent
from warren.settings import ClusterSettings, Settings
from warren_freshness.service import used_by_all
from warren_local.server import free_port


@pytest.fixture
def lab(logs: TimedLogs, no_redis: str) -> ServiceLab:
    return ServiceLab(logs, no_redis)


# A group that is stuck while retention deletes what it has not consumed; restarts in between.


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def topic(logs: TimedLogs) -> str:
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.produce(topic, [now_ms() - n * MINUTE for n in range(10, 0, -1)], partition)
    return topic


def committed(topic: str, *offsets: int, position: int = 1, group: str = GROUP) -> OffsetEvent:
    places = [At(offset, 10, committed_at=now_ms()) for offset in offsets]
    return offset_event({topic: places}, group=group, position=position, observed_at=now_ms())


def test_figures_follow_the_positions(lab: ServiceLab, logs: TimedLogs, topic: str) -> None:
    times = [logs.times(topic, partition) for partition in range(2)]
    with lab.running() as service:
        lab.publish(committed(topic, 2, 10))
        event = lab.await_figures(lambda e: e.topics[topic].committed == [2, 10])
        columns = event.topics[topic]
        assert columns.reason == ["exact", "caught_up"]
        assert columns.oldest_at == [times[0][2], None]
        assert event.freshness_ms == event.measured_at - times[0][2]
        later = lab.await_figures(lambda e: e.measured_at > event.measured_at)
        assert later.freshness_ms == later.measured_at - times[0][2]
        lab.publish(committed(topic, 10, 10, position=2))
        assert lab.await_figures(lambda e: e.topics[topic].committed == [10, 10]).freshness_ms == 0
        eventually(lambda: service.is_ready, message="the service is ready")


def test_events_from_before_the_start_are_known(lab: ServiceLab, topic: str) -> None:
    lab.publish(committed(topic, 1, 10), committed(topic, 2, 10, position=2))
    with lab.running():
        assert lab.await_figures(lambda _: True).topics[topic].committed == [2, 10]
    # All of it is committed now, and the next instance knows it nevertheless.
    before = lab.await_figures(lambda _: True)
    with lab.running():
        after = lab.await_figures(lambda e: e.measured_at > before.measured_at)
        assert after.topics[topic].committed == [2, 10]


def test_a_deleted_group_becomes_a_tombstone(lab: ServiceLab, topic: str) -> None:
    with lab.running():
        lab.publish(committed(topic, 2, 10))
        lab.await_figures(lambda _: True)
        lab.publish(offset_event({}, deleted=True, position=3, observed_at=now_ms()))
        lab.await_tombstone()
        lab.publish(committed(topic, 4, 10, position=4))
        assert lab.await_figures(lambda _: True).topics[topic].committed == [4, 10]


def test_unusable_events_are_dead_letters_and_hold_nothing_up(lab: ServiceLab, topic: str) -> None:
    with lab.running():
        lab.publish_bytes(b"prod|broken", b"{}")
        lab.publish_bytes(b"prod|buried", None)
        lab.publish(committed(topic, 2, 10))
        lab.await_figures(lambda _: True)
        letters = eventually(
            lambda: found if len(found := lab.dead_letters()) == 2 else None,
            message="two dead letters",
        )
        eventually(lambda: lab.committed() == 3, message="all three are committed")
    assert letters is not None
    by_key = {letter.key: letter for letter in letters}
    assert by_key.keys() == {b"prod|broken", b"prod|buried"}
    assert by_key[b"prod|broken"].value == b"{}"
    assert by_key[b"prod|buried"].value is None
    assert {letter.service for letter in letters} == {"freshness"}


def test_an_unreachable_cluster_degrades_only_itself(lab: ServiceLab, topic: str) -> None:
    dead = ClusterSettings(bootstrap=f"127.0.0.1:{free_port()}")
    clusters = {**lab.settings.clusters, "dead": dead}
    settings: Settings = lab.settings.model_copy(update={"clusters": clusters})
    elsewhere = committed(topic, 2, 10, group="elsewhere").model_copy(update={"cluster": "dead"})
    with capture_logs() as lines, lab.running(settings) as service:
        lab.publish(elsewhere, committed(topic, 2, 10))
        assert lab.await_figures(lambda _: True).topics[topic].reason == ["exact", "caught_up"]
        event = lab.await_figures(lambda _: True, "elsewhere")
        assert event.topics[topic].reason == ["timeout", "caught_up"]
        lab.await_figures(lambda e: e.measured_at > event.measured_at, "elsewhere")
        eventually(lambda: lab.committed() == 2, message="both events are committed")
        assert service.works["measuring"]().obstacle == ""
    warnings = [line for line in lines if line["log_level"] == "warning"]
    assert [line["setting"] for line in warnings if line.get("cluster") == "dead"] == [
        "clusters.dead.bootstrap"
    ]


def test_offsets_are_used_when_all_clusters_have_published() -> None:
    assert used_by_all([{0: 7, 1: 9}]) == {0: 7, 1: 9}
    assert used_by_all([{0: 7, 1: 9}, {0: 8, 1: 5}]) == {0: 7, 1: 5}
    assert used_by_all([{0: 7, 1: 9}, {1: 10}]) == {1: 9}
    assert used_by_all([{0: 7}, None]) == {}
    assert used_by_all([]) == {}


@pytest.mark.heavy
def test_two_instances_share_the_groups(lab: ServiceLab, topic: str) -> None:
    groups = [f"group-{number}" for number in range(12)]
    with lab.running():
        lab.publish(*(committed(topic, 2, 10, group=group) for group in groups))
        for group in groups:
            lab.await_figures(lambda _: True, group)
        with lab.running() as second:
            eventually(
                lambda: second.is_ready and second._positions.folded,
                message="the second instance has a partition",
            )
            lab.publish(*(committed(topic, 5, 10, group=group, position=2) for group in groups))
            for group in groups:
                lab.await_figures(lambda e: e.topics[topic].committed == [5, 10], group)
            assert 0 < len(second._positions.snapshots(CLUSTER, range(2))) < len(groups)
        lab.publish(*(committed(topic, 6, 10, group=group, position=3) for group in groups))
        for group in groups:
            lab.await_figures(lambda e: e.topics[topic].committed == [6, 10], group)


def test_offsets_are_committed_once_their_figures_are_published(
    lab: ServiceLab, topic: str
) -> None:
    with lab.running():
        lab.publish(committed(topic, 2, 10), committed(topic, 3, 10, group="other"))
        lab.await_figures(lambda _: True, GROUP)
        lab.await_figures(lambda _: True, "other")
        eventually(lambda: lab.committed() == 2, message="both events are committed")
