"""A cluster of two brokers: both are asked; when one ends, the other one has it all."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition as Partition
from conftest import Broker
from support.collector_lab import CLUSTER, Events, Lab
from support.forgetful_broker import ForgetfulBroker
from support.two_brokers import create_replicated, lead_as_preferred, running_two_brokers
from warren.settings import Settings
from warren_local.kafka import EmbeddedKafka


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
