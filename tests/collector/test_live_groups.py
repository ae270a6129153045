"""Live state of real groups: events say what DescribeConsumerGroups says, from either source."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import (
    ConsumerGroupType,
    IsolationLevel,
    Producer,
    TopicPartition,
    TopicPartition as Partition,
)
from confluent_kafka.admin import ConsumerGroupDescription, NewPartitions, OffsetSpec
from support.collector_lab import Lab
from support.group_members import Members
from warren.contracts import GroupEvent, GroupMember
from warren.settings import Settings
from warren_api.model.membership import Membership
from warren_collector.groups.live.group import (
    LiveGroup,
    enriched,
    unowned,
)


def member(name: str, *subscription: str, **assignment: list[int]) -> GroupMember:
    return GroupMember(
        member_id=name,
        client_id="c",
        host="/h",
        assignment=assignment,
        subscription=list(subscription),
    )


TWO = [member("a", "t", t=[0, 1, 2]), member("b", "t", t=[3])]


PARTITIONS = 3


def settings(lab: Lab, watched: Lab, source: str) -> Settings:
    made = lab.settings(source=source, groups_allow=[watched.name])
    collector = made.collector.model_copy(update={"describe_interval": 0.5})
    return made.model_copy(update={"collector": collector})


def described(lab: Lab, group: str) -> ConsumerGroupDescription:
    return lab.admin.describe_consumer_groups([group])[group].result(30)


def expected(lab: Lab, group: str) -> dict[str, object]:
    admin = described(lab, group)
    return {
        "state": admin.state.name.title(),
        "assignor": admin.partition_assignor,
        "coordinator": admin.coordinator.id if admin.coordinator else None,
        "members": sorted(
            (
                member.member_id,
                member.client_id,
                member.host,
                member.group_instance_id,
                sorted(
                    (p.topic, p.partition)
                    for p in (member.assignment.topic_partitions if member.assignment else [])
                ),
            )
            for member in admin.members
        ),
    }


def told(event: GroupEvent | None) -> dict[str, object] | None:
    if event is None:
        return None
    return {
        "state": event.state,
        "assignor": event.assignor,
        "coordinator": event.coordinator,
        "members": sorted(
            (
                member.member_id,
                member.client_id,
                member.host,
                member.instance_id,
                sorted((t, p) for t, numbers in member.assignment.items() for p in numbers),
            )
            for member in event.members
        ),
    }


def test_groups_are_what_the_coordinator_says(lab: Lab) -> None:
    orders, bills = lab.create_topic("orders", PARTITIONS), lab.create_topic("bills", 1)
    classic, modern, plain = (f"{lab.name}-{name}" for name in ("classic", "modern", "plain"))
    members = Members(lab, orders)
    first = members.join(classic, group_instance_id="one")
    others = [members.join(classic) for _ in range(PARTITIONS)]
    members.join(modern, [orders, bills], group_protocol="consumer", client_rack="r1")
    members.until(lambda: first.assignment() or others[0].assignment(), "members join")
    lab.commit(plain, [Partition(orders, 0, 1)])
    requested = replace(lab, name=f"{lab.name}-asked")
    with (
        lab.ready(settings(lab, lab, "offsets_topic")),
        requested.ready(settings(requested, lab, "admin_api")),
    ):
        both = lab.events(), requested.events()

        def agree(*groups: str) -> bool:
            for events in both:
                events.read()
            return all(
                told(events.state(group)) == expected(lab, group)
                for group in groups
                for events in both
            )

        def until(condition: Callable[[GroupEvent], bool], group: str, message: str) -> None:
            def holds() -> bool:
                for events in both:
                    events.read()
                states = [events.state(group) for events in both]
                return all(state is not None and condition(state) for state in states)

            members.until(holds, message)

        until(lambda e: e.state == "Stable" and len(e.members) == 4, classic, "the group is stable")
        members.until(lambda: agree(classic, modern, plain), "both say what the coordinator says")
        for events in both:
            event = events.state(classic)
            assert event is not None
            assert (event.protocol, event.protocol_type) == ("classic", "consumer")
            assert {m.instance_id for m in event.members} == {"one", None}
            assert all(m.subscription == [orders] for m in event.members)
            assert (event.idle_members, event.unowned) == (1, {})
            assert event.assignment_skew == pytest.approx(4 / 3)
            one = events.state(modern)
            assert one is not None
            assert (one.protocol, one.members[0].rack) == ("consumer", "r1")
            assert one.members[0].subscription == sorted([orders, bills])
            assert one.generation > 0
            assert one.members[0].epoch > 0
            assert (one.idle_members, one.assignment_skew, one.unowned) == (0, 1.0, {})
            alone = events.state(plain)
            assert alone is not None
            assert (alone.state, alone.members, alone.idle_members) == ("Empty", [], 0)
        assert described(lab, modern).type == ConsumerGroupType.CONSUMER

        # Clients ask for a topic's partitions every five minutes: until then nobody owns these.
        lab.admin.create_partitions([NewPartitions(orders, 5)])[orders].result(30)
        until(lambda e: e.unowned == {orders: [3, 4]}, classic, "unowned partitions")
        rebalances = [events.state(classic) for events in both]
        members.leave(others.pop())
        until(
            lambda e: e.idle_members == 0 and len(e.members) == 3 and e.state == "Stable",
            classic,
            "the member has left",
        )
        members.until(lambda: agree(classic, modern), "both say what the coordinator says")
        for before, events in zip(rebalances, both, strict=True):
            now = events.state(classic)
            assert before is not None
            assert now is not None
            assert now.rebalances > before.rebalances
            assert now.last_rebalance_at is not None

        lab.admin.delete_consumer_groups([plain])[plain].result(30)
        members.until(
            lambda: [e.read() for e in both] and all(e.groups[plain][-1] is None for e in both),
            "tombstones",
        )


LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # as confluent-kafka has it


def fill(lab: Lab, topic: str, each: int) -> None:
    for partition in range(PARTITIONS):
        lab.produce(topic, [(None, b"x")] * each, partition)


def test_how_far_the_log_is_stable_where_a_reader_of_committed_records_stands(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    fill(lab, topic, each=5)
    with lab.ready(lab.settings()):
        members = Members(lab, topic)
        consumer = members.join(lab.name, isolation_level="read_committed")
        members.until(consumer.assignment, "it has partitions")
        members.commit(5)
        producer = Producer({"bootstrap.servers": lab.bootstrap, "transactional.id": lab.name})
        producer.init_transactions(30)
        producer.begin_transaction()
        for _ in range(7):
            producer.produce(topic, b"y", partition=1)
        assert producer.flush(30) == 0
        wanted = {TopicPartition(topic, 1): LATEST}
        stable = lab.admin.list_offsets(wanted, isolation_level=IsolationLevel.READ_COMMITTED)
        assert next(iter(stable.values())).result(30).offset == 5
        events = lab.events()

        def last_stable() -> list[int] | None:
            told = events.of(lab.name)
            return told[-1].topics[topic].last_stable if told else None

        events.until(lambda: last_stable() == [-1, 5, -1], "the open transaction is told")
        assert events.of(lab.name)[-1].topics[topic].log_end == [5, 12, 5]
        producer.abort_transaction(30)
        events.until(lambda: last_stable() is None, "its end is told")


def recorded(**fields: Any) -> GroupEvent:
    return GroupEvent(
        **{
            "cluster": "prod",
            "group": "g",
            "observed_at": 7,
            "position": 5,
            "protocol": "classic",
            "protocol_type": "consumer",
            "state": "Stable",
            "generation": 3,
            **fields,
        }
    )


ONLY_COMMITS = recorded(generation=-1, state="Empty", protocol_type="")


def test_records_know_the_members_and_the_coordinator_knows_the_rest() -> None:
    live = LiveGroup(
        "g",
        "classic",
        "consumer",
        state="Stable",
        assignor="range",
        coordinator=4,
        members=(member("older", "t"),),
        rebalances=9,
    )
    event = enriched(recorded(members=TWO, rebalances=2), live, {"t": 5})
    assert (event.coordinator, event.assignor, event.generation) == (4, "range", 3)
    assert (event.members, event.rebalances) == (TWO, 2)
    assert (event.idle_members, event.assignment_skew) == (0, 1.5)
    assert event.unowned == {"t": [4]}
    assert (event.position, event.observed_at) == (5, 7)


def test_topics_that_are_not_there_are_named() -> None:
    members = [member("a", "t", "gone", "unknown"), member("b", "away", t=[0])]
    event = enriched(recorded(members=members), None, {"t": 1, "gone": 0, "away": 0})
    assert event.absent == ["away", "gone"]
    assert Membership(event).not_judged == (
        "no offset committed yet; it subscribes to away and 1 more topic, which this cluster does "
        "not have"
    )


def test_nothing_follows_from_the_assignments_of_a_group_that_rebalances() -> None:
    live = LiveGroup("g", "classic", "consumer", state="PreparingRebalance", coordinator=1)
    event = enriched(recorded(members=TWO), live, {"t": 9})
    assert event.state == "PreparingRebalance"
    assert (event.idle_members, event.assignment_skew, event.unowned) == (None, None, {})


def test_the_state_of_newer_protocols_is_that_of_their_records() -> None:
    live = LiveGroup("g", "consumer", state="Reconciling", assignor="uniform", coordinator=1)
    event = enriched(recorded(protocol="consumer", protocol_type="", members=TWO), live, {})
    assert (event.state, event.assignor, event.idle_members) == ("Stable", "uniform", 0)


@pytest.mark.parametrize("protocol_type", ["connect", "sr"])
def test_assignments_of_others_than_consumers_are_not_counted(protocol_type: str) -> None:
    event = enriched(recorded(protocol_type=protocol_type, members=[member("a")]), None, {})
    assert (event.idle_members, event.assignment_skew) == (None, None)


def test_members_that_nobody_may_describe_are_not_counted() -> None:
    live = LiveGroup("g", "classic", "consumer", state="Stable", coordinator=2, members=None)
    event = enriched(ONLY_COMMITS, live, {})
    assert (event.state, event.coordinator, event.idle_members) == ("Stable", 2, None)


def test_unowned_partitions_are_of_subscribed_topics_whose_size_is_known() -> None:
    members = [member("a", "t", "u", "unknown", t=[0, 2]), member("b", "v", t=[3], v=[0], w=[1])]
    sizes = {"t": 5, "u": 2, "v": 1, "w": 9, "other": 3}
    assert unowned(members, sizes) == {"t": [1, 4], "u": [0, 1]}
