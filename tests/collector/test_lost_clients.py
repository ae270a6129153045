"""The collector's clients that have lost all brokers are made anew, and no commit is lost."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as Partition
from confluent_kafka.admin import ClusterMetadata
from prometheus_client import CollectorRegistry, Gauge
from support.collector_lab import CLUSTER, Lab
from support.waiting import eventually
from warren.clock import ManualClock
from warren.errors import ClusterUnreachable
from warren.kafka import hearing, rebalances
from warren.kafka.rebalances import GroupConsumer
from warren.metrics import collector as metrics
from warren.settings import ClusterSettings, HomeSettings, Settings, StandstillSettings
from warren.standstill_watch import StandstillWatch
from warren_collector.cluster import stack
from warren_collector.cluster.stack import ClusterStack
from warren_local.kafka import EmbeddedKafka

pytestmark = pytest.mark.heavy

AWAY = ClusterUnreachable(CLUSTER, f"clusters.{CLUSTER}.bootstrap", "no broker answers")


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes a minute takes a second."""
    monkeypatch.setattr(hearing, "QUIET_SECONDS", 1.0)
    monkeypatch.setattr(hearing, "AGAIN_SECONDS", 1.0)
    monkeypatch.setattr(hearing, "LAST_ANSWER_SECONDS", 3.0)
    monkeypatch.setattr(stack, "RESTART_AFTER", 0.1)


class Losing:
    """Consumers of a group, of which the first can be made to know no brokers any more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[GroupConsumer] = []
        self.is_first_lost = False
        losing = self

        class LosingConsumer(GroupConsumer):
            def __init__(self, *options: Any) -> None:
                super().__init__(*options)
                losing.made.append(self)

            def consume(self, *how: Any) -> list[Message]:
                messages = super().consume(*how)
                return [] if losing.has_lost(self) else messages

            def list_topics(self, *what: Any, **how: Any) -> ClusterMetadata:
                if losing.has_lost(self):
                    raise KafkaException(KafkaError(KafkaError._TRANSPORT))
                return super().list_topics(*what, **how)

        monkeypatch.setattr(rebalances, "GroupConsumer", LosingConsumer)

    def has_lost(self, consumer: GroupConsumer) -> bool:
        return self.is_first_lost and consumer is self.made[0]


def lost() -> float:
    return float(metrics.COLLECTOR_LOST_CLIENTS.labels(CLUSTER)._value.get())


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("source", ["offsets_topic", "admin_api"])
def test_a_client_that_has_lost_all_brokers_is_made_anew(
    lab: Lab,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    topic, group = lab.create_topic("orders"), f"{lab.name}-group"
    lab.commit(group, [Partition(topic, 0, 1)])
    losing, before = Losing(monkeypatch), lost()
    with lab.ready(lab.settings(source=source)) as collector:
        events = lab.events()
        events.until(lambda: events.committed(group) == {(topic, 0): 1}, "it collects")
        losing.is_first_lost = True
        eventually(lambda: lost() > before, message="it is found out")
        lab.commit(group, [Partition(topic, 0, 2)])
        lab.commit(group, [Partition(topic, 0, 3)])
        eventually(lambda: collector.is_ready, message="it is ready again")
        events.until(lambda: events.committed(group) == {(topic, 0): 3}, "it collects again")
        events.until(lambda: events.cluster_states() == {CLUSTER: "ok"}, "and says so")
    assert (lost() - before, len(losing.made)) == (1, 2)
    assert not any(event.removed or event.deleted for event in events.all)
    if source == "offsets_topic":  # what was there at the very first start does not count
        assert events.commits(group) == 2
    assert "client lost, made anew" in capfd.readouterr().out


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("soon")
def test_a_broker_that_is_away_is_no_loss(
    own_kafka: EmbeddedKafka, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, before = set(), lost()
    is_reachable = hearing.is_reachable

    def asked(cluster: str, *where: Any) -> bool:
        found = is_reachable(cluster, *where)
        if not found:
            away.add(cluster)
        return found

    monkeypatch.setattr(hearing, "is_reachable", asked)
    # As by default: a client waits up to 10 s before it connects again.
    monkeypatch.setattr(hearing, "LAST_ANSWER_SECONDS", 15.0)
    with Lab.on(own_kafka.bootstrap, unique) as lab:
        topic, group = lab.create_topic("orders"), f"{lab.name}-group"
        lab.commit(group, [Partition(topic, 0, 1)])
        with lab.ready(lab.settings()) as collector:
            own_kafka.stop()
            # Its clients ask, or what it publishes has failed before, and all begins anew.
            eventually(
                lambda: CLUSTER in away or not collector.is_ready,
                timeout=300,  # librdkafka's own timeouts, one after the other
                message="nobody is answered",
            )
            own_kafka.start()
            lab.commit(group, [Partition(topic, 0, 2)])
            eventually(lambda: collector.is_ready, timeout=120, message="it is ready again")
            events = lab.events()
            events.until(
                lambda: events.committed(group) == {(topic, 0): 2}, "it collects again", timeout=120
            )
    assert lost() == before


class Hanging:
    """A stack that goes round no more, and its watch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, in_trouble: bool) -> None:
        self.reachable = {"home", CLUSTER}
        self.ended = 0
        monkeypatch.setattr(stack, "is_reachable", lambda cluster, *_: cluster in self.reachable)
        settings = Settings(
            home=HomeSettings(bootstrap="127.0.0.1:1"),
            clusters={CLUSTER: ClusterSettings(bootstrap="127.0.0.1:1")},
        )
        self.clock = ManualClock()
        self.stack = ClusterStack(CLUSTER, settings, self.clock, threading.Event())
        if in_trouble:
            self.stack.state.trouble(AWAY, goes_on=True)
        gauge = Gauge("stalled", "s", ("work",), registry=CollectorRegistry())
        works = {"cluster": self.stack.look}
        self.watch = StandstillWatch(StandstillSettings(), works, gauge, self.clock, self._end)

    def _end(self) -> None:
        self.ended += 1

    def looks(self, seconds: int) -> str | None:
        for _ in range(seconds // 5):
            self.clock.advance(5)
            self.watch.look()
        return self.watch.reason


@pytest.mark.parametrize("in_trouble", [False, True])
def test_a_turn_that_does_not_end_is_told_in_a_minute_and_excused_while_a_cluster_is_away(
    monkeypatch: pytest.MonkeyPatch, in_trouble: bool
) -> None:
    hanging = Hanging(monkeypatch, in_trouble=in_trouble)
    assert hanging.looks(600) is None  # between turns
    hanging.stack.turns.begin()
    for reachable in ({"home"}, {CLUSTER}):
        hanging.reachable = reachable
        assert hanging.looks(70)
        assert hanging.looks(3600)
        assert not hanging.ended
    hanging.reachable = {"home", CLUSTER}
    assert "nothing done for" in str(hanging.looks(170))
    assert not hanging.ended
    hanging.looks(15)
    assert hanging.ended
    hanging.stack.turns.begin()
    assert hanging.looks(5) is None
