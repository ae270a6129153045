"""The state of a cluster, and what is reported of it."""

import threading

import pytest
from collector.played_bus import AWAY, PlayedBus
from support.manual_clock import ManualClock
from warren.contracts import ClusterEvent
from warren.errors import (
    AuthenticationFailed,
    AuthorizationFailed,
    ClientLost,
    ClusterUnreachable,
    KafkaError,
    TopicMissing,
)
from warren_collector.cluster.publisher import ClusterReports
from warren_collector.cluster.state import ClusterState, Figures

NOW = 1_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def state(clock: ManualClock) -> ClusterState:
    return ClusterState("prod", clock)


def event(state: ClusterState) -> ClusterEvent:
    return state.event("host-1", ["offsets_topic"])


def test_a_state_lasts_since_it_began(state: ClusterState, clock: ManualClock) -> None:
    assert (event(state).state, event(state).since) == ("connecting", NOW)
    clock.advance(1)
    state.note("ok", Figures(groups=3, positions=9, backlog=1, log_ends_at=NOW))
    clock.advance(1)
    state.note("ok", Figures(groups=4, positions=9))
    told = event(state)
    assert (told.state, told.since, told.observed_at) == ("ok", NOW + 1000, NOW + 2000)
    assert (told.groups, told.backlog, told.log_ends_at) == (4, 0, None)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ClusterUnreachable, "unreachable"),
        (AuthenticationFailed, "refused"),
        (AuthorizationFailed, "refused"),
        (TopicMissing, "failing"),
        (ClientLost, "failing"),  # the cluster answers
    ],
)
def test_trouble_says_what_it_is(
    state: ClusterState, error: type[KafkaError], expected: str
) -> None:
    state.note("ok", Figures(groups=3))
    state.trouble(error("prod", "clusters.prod.kafka", "no"))
    told = event(state)
    assert (told.state, told.groups) == (expected, 3)
    assert told.problem == "cluster prod: no (see clusters.prod.kafka)"
    state.note("ok")
    assert (event(state).state, event(state).problem) == ("ok", "")


def test_what_keeps_all_work_with_a_cluster_from_being_done(state: ClusterState) -> None:
    away = ClusterUnreachable("prod", "clusters.prod.bootstrap", "away")
    state.trouble(away, goes_on=True)
    assert state.now.obstacle == ""
    state.trouble(away)
    assert state.now.obstacle == str(away)
    state.note("rebuilding")
    assert (state.now.obstacle, state.now.problem) == (
        str(away),
        "",
    )  # it may be refused again at once
    state.note("ok")
    assert state.now.obstacle == ""
    state.fault(KeyError("orders"))
    assert "KeyError, a fault of Warren" in state.now.obstacle


def told(bus: PlayedBus) -> list[str]:
    """State by state, a tombstone as `gone`."""
    taken, bus.acknowledged = bus.acknowledged, []
    assert {(topic, key) for topic, key, _ in taken} <= {("warren.clusters", b"prod|host-1")}
    return [
        "gone" if value is None else ClusterEvent.from_bytes(value).state for *_, value in taken
    ]


@pytest.fixture
def reports(state: ClusterState, clock: ManualClock) -> ClusterReports:
    return ClusterReports([lambda: event(state)], "warren.", clock)


def test_changes_are_reported_at_once_and_all_else_every_10_s(
    reports: ClusterReports, state: ClusterState, clock: ManualClock
) -> None:
    bus = PlayedBus()
    reports.publish(bus)
    clock.advance(9.9)
    reports.publish(bus)
    assert told(bus) == ["connecting"]
    state.note("ok")
    reports.publish(bus)
    clock.advance(9.9)
    state.note("ok", Figures(groups=1))
    reports.publish(bus)
    assert told(bus) == ["ok"]
    clock.advance(0.1)
    reports.publish(bus)
    assert told(bus) == ["ok"]


def test_what_was_not_acknowledged_is_reported_again(reports: ClusterReports) -> None:
    bus = PlayedBus()
    bus.problem = AWAY
    reports.publish(bus)
    assert reports.trouble.look().obstacle, "it is not ready when that lasts"
    bus.problem = None
    reports.publish(bus)
    assert told(bus) == ["connecting"]
    assert reports.trouble.look().obstacle == ""


def test_a_collector_that_stops_is_forgotten(reports: ClusterReports) -> None:
    bus, stop = PlayedBus(), threading.Event()
    reports.publish(bus)
    stop.set()
    reports.run(lambda: bus, lambda: True, stop)
    assert told(bus) == ["connecting", "gone"]


def test_one_that_never_reported_has_nothing_to_withdraw(reports: ClusterReports) -> None:
    stop = threading.Event()
    stop.set()
    bus = PlayedBus()
    reports.run(lambda: bus, lambda: False, stop)
    assert told(bus) == []
