"""Records about groups in, what groups are out: each protocol."""

from uuid import UUID

from support.group_bench import (
    ORDERS,
    RETURNS,
    ConsumerGroup,
    GroupBench,
    classic,
    commit,
    owned,
    uncommit,
)
from support.kafka_schemas import GroupWriter


def test_a_classic_group(at: GroupBench) -> None:
    at.fold(classic("billing", 4, "m-2", "m-1"))
    event = at.only()
    assert (event.cluster, event.group, event.position) == ("prod", "billing", 1)
    assert (event.protocol, event.protocol_type, event.state) == ("classic", "consumer", "Stable")
    assert (event.generation, event.assignor, event.leader) == (4, "range", "m-2")
    first, second = event.members
    assert (first.member_id, first.instance_id) == ("m-1", "i-m-1")
    assert (first.client_id, first.host, first.epoch) == ("client", "/10.0.0.1", -1)
    assert (first.assignment, second.assignment) == ({"orders": [1, 2]}, {"orders": [0, 2]})
    assert first.subscription == ["orders"]
    at.fold(classic("billing", 5))
    assert (at.only().state, at.look()) == ("Empty", {})


def test_a_group_that_has_only_committed_is_an_empty_classic_one(at: GroupBench) -> None:
    at.fold(commit("tool"))
    event = at.only()
    assert (event.protocol, event.state, event.members) == ("classic", "Empty", [])
    at.fold(commit("tool", 4))
    assert at.look() == {}
    at.fold(uncommit("tool"))
    assert at.look() == {"tool": None}
    assert at.look() == {}


def test_the_states_of_a_consumer_group(at: GroupBench, billing: ConsumerGroup) -> None:
    at.fold(billing.epoch(1))
    assert at.only().state == "Empty"
    at.fold(billing.member("m-1", rack_id="r", server_assignor="range"), billing.epoch(2))
    event = at.only()
    assert (event.state, event.generation, event.assignor) == ("Assigning", 2, "range")
    at.fold(billing.target(2))
    assert at.only().state == "Reconciling"
    at.fold(billing.current("m-1", 2, owned(ORDERS, 1, 0), owned(RETURNS, 4)))
    event = at.only()
    assert event.state == "Stable"
    (member,) = event.members
    assert member.assignment == {"orders": [0, 1], "returns": [4]}
    assert (member.epoch, member.rack, member.subscription) == (2, "r", ["orders"])
    at.fold(billing.current("m-1", 2, state=1))
    assert at.only().state == "Reconciling"
    at.fold(*billing.leaves("m-1"), billing.epoch(3), billing.target(3))
    event = at.only()
    assert (event.state, event.members, event.generation) == ("Empty", [], 3)


def test_a_regular_expression_subscribes_to_what_it_matches(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    member = billing.member("m", subscribed_topic_regex="or.*", subscribed_topic_names=["returns"])
    at.fold(billing.epoch(1), member, billing.regex("or.*", "orders", "oranges"))
    (told,) = at.only().members
    assert (told.subscribed_regex, told.subscription) == ("or.*", ["oranges", "orders", "returns"])


def test_a_share_group(at: GroupBench, writer: GroupWriter) -> None:
    metadata = {"subscribed_topic_names": ["orders"], "client_id": "c", "client_host": "/h"}
    at.fold(
        writer.record("ShareGroupMetadata", "pool", epoch=3),
        writer.record("ShareGroupMemberMetadata", "pool", "m", **metadata),
        writer.record("ShareGroupTargetAssignmentMetadata", "pool", assignment_epoch=2),
        writer.record(
            "ShareGroupCurrentMemberAssignment",
            "pool",
            "m",
            member_epoch=3,
            assigned_partitions=[owned(UUID(int=77), 0, 1)],
        ),
        writer.record(
            "ShareGroupStatePartitionMetadata",
            "pool",
            initialized_topics=[{"topic_name": "parcels", **owned(UUID(int=77), 0, 1)}],
        ),
    )
    event = at.only()
    assert (event.protocol, event.state, event.generation) == ("share", "Stable", 3)
    assert event.members[0].assignment == {"parcels": [0, 1]}
    assert len(at.positions.groups) == 0  # and so nothing about it is in warren.offsets
    at.fold(writer.tombstone("ShareGroupMetadata", "pool"))
    assert at.look() == {}
    assert at.look() == {"pool": None}


def test_a_streams_group(at: GroupBench, writer: GroupWriter) -> None:
    member = {"client_id": "c", "client_host": "/h", "process_id": "p"}
    subtopology = {
        "subtopology_id": "0",
        "source_topics": ["orders"],
        "source_topic_regex": [],
        "state_changelog_topics": [],
        "repartition_sink_topics": [],
        "repartition_source_topics": [
            {"name": "by-day", "partitions": 2, "replication_factor": 1, "topic_configs": []}
        ],
        "copartition_groups": [],
    }
    current = ("StreamsGroupCurrentMemberAssignment", "counts", "m")
    tasks = [{"subtopology_id": "0", "partitions": [1, 0]}]
    at.fold(
        writer.record("StreamsGroupMetadata", "counts", epoch=5),
        writer.record("StreamsGroupMemberMetadata", "counts", "m", **member),
        writer.record("StreamsGroupTopology", "counts", epoch=1, subtopologies=[subtopology]),
        writer.record(*current, member_epoch=5, state=1, active_tasks=tasks),
    )
    assert at.only().state == "NotReady"
    at.fold(writer.record("StreamsGroupMetadata", "counts", epoch=5, validated_topology_epoch=1))
    event = at.only()
    assert (event.protocol, event.state) == ("streams", "Assigning")
    assert event.members[0].assignment == {"by-day": [0, 1], "orders": [0, 1]}
    assert event.members[0].subscription == ["by-day", "orders"]
    at.fold(writer.record("StreamsGroupTargetAssignmentMetadata", "counts", assignment_epoch=5))
    assert at.only().state == "Stable"
    at.fold(writer.record(*current, member_epoch=5, state=2, active_tasks=tasks))
    assert at.only().state == "Reconciling"


def test_rebalances_are_counted_and_timed(at: GroupBench, billing: ConsumerGroup) -> None:
    at.fold(classic("old", 57, "m", state_at=100), counted=False)
    event = at.only()
    assert (event.rebalances, event.last_rebalance_at) == (0, 100)
    at.fold(classic("old", 58, "m", state_at=200), classic("old", 60, "m", state_at=300))
    event = at.only()
    assert (event.rebalances, event.last_rebalance_at) == (3, 300)
    at.fold(classic("old", 60, "m", "n", state_at=400))
    assert (event.rebalances, event.last_rebalance_at) == (3, 300)

    at.fold(classic("new", 0), classic("new", 1, "m"))
    assert at.look()["new"].rebalances == 1  # type: ignore[union-attr]  # it is there

    at.fold(billing.epoch(1), billing.target(1, at=150), time=140)
    assert (event := at.only()).last_rebalance_at == 150
    assert event.rebalances == 1
    at.fold(billing.epoch(2), billing.target(2), time=160)  # a broker that does not say when
    assert (event := at.only()).last_rebalance_at == 160
    assert event.rebalances == 2
