"""Records about groups in, group events out: each protocol, and every way in which groups end."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any
from uuid import UUID

import pytest
import support.coordinator_records as encode
from confluent_kafka import KafkaError, KafkaException, Uuid
from hypothesis import given, settings
from hypothesis import strategies as st
from support.coordinator_batches import batch
from support.kafka_schemas import GroupWriter
from warren.clock import ManualClock
from warren.contracts import GroupEvent
from warren_collector.groups import reports
from warren_collector.groups.recorded.records import Findings
from warren_collector.groups.reports import GroupReport, GroupReports
from warren_collector.groups.topic_ids import TopicIds
from warren_collector.positions.recorded import Positions
from warren_collector.records import GroupMetadata, Malformed, Member
from warren_collector.sources.batch import Folded

ORDERS, RETURNS = UUID(int=2**127 + 5), UUID(int=6)
Record = tuple[bytes | None, bytes | None]


class Description:
    """What an answer about a topic has that is of interest."""

    def __init__(self, topic_id: UUID) -> None:
        high, low = divmod(topic_id.int, 2**64)
        self.topic_id = Uuid(*(half - (half >> 63 << 64) for half in (high, low)))


class Bench:
    """A collector's state of one partition of the offsets topic, and what it would publish."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_000_000)
        self.positions = Positions(lambda group: not group.startswith("denied"))
        self.asked: list[list[str]] = []
        self.answers: dict[str, Future[Any]] = {}
        self.topic_ids = TopicIds(self._ask, self.clock)
        self.reports = GroupReports(
            "prod", self.positions.states, self.positions.groups, self.topic_ids
        )
        self.findings = Findings()
        self.offset = 0

    def _ask(self, names: Sequence[str]) -> dict[str, Future[Any]]:
        self.asked.append(list(names))
        self.answers = {name: Future() for name in names}
        return self.answers

    def fold(self, *records: Record, counted: bool = True, time: int = 7000) -> Folded:
        first, self.offset = self.offset, self.offset + len(records)
        counts = [counted] * len(records)
        return self.positions.fold(batch(records, first_offset=first, counted=counts, time=time))

    def due(self) -> list[GroupReport]:
        self.reports.saw(self.positions.groups.due(-1.0))
        return self.reports.due({0: self.offset}, 5000, self.findings)

    def look(self) -> dict[str, GroupEvent | None]:
        """A tick: what is due is published."""
        due = self.due()
        self.reports.published(due)
        self.positions.published(self.positions.groups.due(-1.0), [], at=1.0)
        return {report.place[1]: report.event for report in due}

    def only(self) -> GroupEvent:
        (event,) = self.look().values()
        assert event is not None
        return event


@pytest.fixture
def at() -> Bench:
    bench = Bench()
    bench.topic_ids.learn(ORDERS, "orders")
    bench.topic_ids.learn(RETURNS, "returns")
    return bench


def owned(topic_id: UUID, *partitions: int) -> dict[str, Any]:
    return {"topic_id": topic_id, "partitions": list(partitions)}


def classic(group: str, generation: int, *members: str, state_at: int = 900) -> Record:
    wanted = bytes.fromhex("0001 00000001 0006") + b"orders" + bytes.fromhex("ffffffff 00000000")
    metadata = GroupMetadata(
        group,
        "consumer",
        generation,
        "range" if members else None,
        members[0] if members else None,
        state_at,
        tuple(
            Member(m, f"i-{m}", "client", "/10.0.0.1", 1, 2, wanted, {"orders": [2, number]}, None)
            for number, m in enumerate(members)
        ),
    )
    return encode.group_key(group), encode.group_value(metadata, 3)


def commit(group: str, offset: int = 3, partition: int = 0) -> Record:
    return encode.offset_key(group, "orders", partition), encode.offset_value(offset, 5)


def uncommit(group: str, partition: int = 0) -> Record:
    return encode.offset_key(group, "orders", partition), None


class Consumer:
    """Records of a KIP-848 group, as its broker writes them."""

    def __init__(self, writer: GroupWriter, group: str) -> None:
        self._writer = writer
        self.group = group

    def epoch(self, epoch: int) -> Record:
        return self._writer.record("ConsumerGroupMetadata", self.group, epoch=epoch)

    def target(self, epoch: int, at: int = 0) -> Record:
        return self._writer.record(
            "ConsumerGroupTargetAssignmentMetadata",
            self.group,
            assignment_epoch=epoch,
            assignment_timestamp=at,
        )

    def member(self, member: str, **fields: Any) -> Record:
        given = {"subscribed_topic_names": ["orders"], "client_id": "app", "client_host": "/h"}
        return self._writer.record(
            "ConsumerGroupMemberMetadata", self.group, member, **(given | fields)
        )

    def current(self, member: str, epoch: int, *assigned: dict[str, Any], state: int = 0) -> Record:
        return self._writer.record(
            "ConsumerGroupCurrentMemberAssignment",
            self.group,
            member,
            member_epoch=epoch,
            state=state,
            assigned_partitions=list(assigned),
        )

    def regex(self, regex: str, *topics: str) -> Record:
        return self._writer.record(
            "ConsumerGroupRegularExpression", self.group, regex, topics=list(topics)
        )

    def leaves(self, member: str) -> list[Record]:
        kinds = ("CurrentMemberAssignment", "TargetAssignmentMember", "MemberMetadata")
        return [self._writer.tombstone(f"ConsumerGroup{k}", self.group, member) for k in kinds]

    def ends(self) -> list[Record]:
        kinds = ("TargetAssignmentMetadata", "PartitionMetadata", "Metadata")
        return [self._writer.tombstone(f"ConsumerGroup{kind}", self.group) for kind in kinds]


@pytest.fixture
def billing(writer: GroupWriter) -> Consumer:
    return Consumer(writer, "billing")


def test_a_classic_group(at: Bench) -> None:
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


def test_a_group_that_has_only_committed_is_an_empty_classic_one(at: Bench) -> None:
    at.fold(commit("tool"))
    event = at.only()
    assert (event.protocol, event.state, event.members) == ("classic", "Empty", [])
    at.fold(commit("tool", 4))
    assert at.look() == {}
    at.fold(uncommit("tool"))
    assert at.look() == {"tool": None}
    assert at.look() == {}


def test_the_states_of_a_consumer_group(at: Bench, billing: Consumer) -> None:
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


def test_a_regular_expression_subscribes_to_what_it_matches(at: Bench, billing: Consumer) -> None:
    member = billing.member("m", subscribed_topic_regex="or.*", subscribed_topic_names=["returns"])
    at.fold(billing.epoch(1), member, billing.regex("or.*", "orders", "oranges"))
    (told,) = at.only().members
    assert (told.subscribed_regex, told.subscription) == ("or.*", ["oranges", "orders", "returns"])


def test_a_share_group(at: Bench, writer: GroupWriter) -> None:
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


def test_a_streams_group(at: Bench, writer: GroupWriter) -> None:
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


def test_rebalances_are_counted_and_timed(at: Bench, billing: Consumer) -> None:
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


def test_an_upgrade_is_no_end(at: Bench, billing: Consumer) -> None:
    at.fold(classic("billing", 7, "m-1"), commit("billing"))
    assert at.only().protocol == "classic"
    upgraded = [billing.epoch(8), billing.member("m-1"), billing.target(8)]
    at.fold((encode.group_key("billing"), None), *upgraded, billing.current("m-1", 8))
    event = at.only()
    assert (event.protocol, event.generation, event.rebalances) == ("consumer", 8, 1)
    at.fold(*billing.leaves("m-1"), *billing.ends(), classic("billing", 9, "m-1"))
    event = at.only()  # and back
    assert (event.protocol, event.generation, event.rebalances) == ("classic", 9, 2)


def test_an_upgrade_of_which_only_the_tombstone_was_read_is_no_end_either(
    at: Bench, billing: Consumer
) -> None:
    at.fold(classic("billing", 7, "m-1"))
    at.look()
    at.fold((encode.group_key("billing"), None))
    assert at.look() == {}
    assert at.reports.awaits_ends
    at.fold(billing.epoch(8))
    assert at.only().protocol == "consumer"
    assert not at.reports.awaits_ends


def test_a_deleted_group_is_gone_once_nothing_is_left(at: Bench, billing: Consumer) -> None:
    at.fold(billing.epoch(1), billing.member("m"), commit("billing"))
    at.look()
    at.fold(uncommit("billing"))
    assert at.look() == {}  # it has members still
    at.fold(*billing.leaves("m"), *billing.ends())
    at.look()
    assert at.look() == {"billing": None}
    assert len(at.positions.states) == 0
    at.fold(billing.epoch(1))
    assert at.only().rebalances == 1


def test_what_is_published_only_once_and_what_failed_again(at: Bench, billing: Consumer) -> None:
    at.fold(billing.epoch(1))
    assert len(at.due()) == 1
    assert len(at.due()) == 1  # the first was not acknowledged
    assert len(at.look()) == 1
    assert at.look() == {}
    at.fold(billing.epoch(1))
    assert at.look() == {}
    at.reports.touch(["billing", "nobody"])
    assert at.look() == {}  # nothing is new


def test_others_complete_the_event(at: Bench, billing: Consumer) -> None:
    coordinator = 1

    def complete(event: GroupEvent) -> GroupEvent:
        return event.model_copy(update={"coordinator": coordinator})

    at.reports = GroupReports(
        "prod", at.positions.states, at.positions.groups, at.topic_ids, complete
    )
    at.fold(billing.epoch(1))
    assert at.only().coordinator == 1
    coordinator = 2
    assert at.look() == {}
    at.reports.touch(["billing"])
    assert at.only().coordinator == 2


def test_names_of_topics_are_asked_for_and_waited_for(at: Bench, billing: Consumer) -> None:
    unknown = UUID(int=99)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(unknown, 0)))
    assert at.look() == {}
    assert at.asked == [["orders"]]
    assert at.look() == {}  # the answer is not there yet, and nobody asks twice
    assert at.asked == [["orders"]]
    at.answers["orders"].set_result(Description(unknown))
    assert at.only().members[0].assignment == {"orders": [0]}


def test_a_topic_that_cannot_be_described_delays_nothing_for_long(
    at: Bench, billing: Consumer
) -> None:
    gone = owned(UUID(int=99), 0)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, gone))
    at.look()
    at.answers["orders"].set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    assert at.only().members[0].assignment == {}
    at.fold(billing.current("m", 2, gone))
    at.look()
    assert len(at.asked) == 1
    at.clock.advance(31)
    at.fold(billing.current("m", 3, gone))
    assert at.look() == {}
    assert len(at.asked) == 2


def test_only_what_can_be_a_name_is_asked_for(at: Bench, billing: Consumer) -> None:
    odd = ["", "orders", "a b", "or\0ders", "ü", "x" * 250]
    member = billing.member("m", subscribed_topic_names=odd)
    at.fold(billing.epoch(1), member, billing.current("m", 1, owned(UUID(int=99), 0)))
    at.look()
    assert at.asked == [["orders"]]


def test_a_group_that_is_too_big_for_a_record_loses_detail(
    at: Bench, billing: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = [f"topic-{number:04}" for number in range(500)]
    at.fold(billing.epoch(1), billing.member("m", subscribed_topic_names=wide))
    at.fold(billing.current("m", 1, owned(ORDERS, *range(500))))
    whole = at.due()[0].event
    assert whole is not None
    for most, subscriptions, partitions in ((5000, 0, 500), (1000, 0, 0)):
        monkeypatch.setattr(reports, "MOST_BYTES", most)
        event = at.due()[0].event
        assert event is not None
        (member,) = event.members
        assert len(member.subscription) == subscriptions
        assert len(member.assignment.get("orders", [])) == partitions
        assert len(event.to_bytes()) <= most < len(whole.to_bytes())
        assert GroupEvent.from_bytes(event.to_bytes()) == event


def test_negative_topic_ids(at: Bench, billing: Consumer) -> None:
    """The two halves of an id are signed where confluent-kafka has them."""
    topic_id = UUID(int=(2**63 + 1) << 64 | 2**63 + 2)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(topic_id, 3)))
    at.look()
    at.answers["orders"].set_result(Description(topic_id))
    assert at.only().members[0].assignment == {"orders": [3]}


def test_what_only_rebuilds_state_is_not_told_as_an_end(at: Bench) -> None:
    at.fold(classic("old", 1), (encode.group_key("old"), None), counted=False)
    assert at.fold((encode.group_key("older"), None), counted=False).group_records == 1
    assert at.look() == at.look() == {}
    at.fold((encode.group_key("meanwhile"), None))
    assert at.look() == {"meanwhile": None}


def test_denied_groups_are_not_told(at: Bench, writer: GroupWriter) -> None:
    folded = at.fold(classic("denied-1", 1), *[Consumer(writer, "denied-2").epoch(1)])
    assert folded.denied == 2
    at.fold((encode.group_key("denied-1"), None))
    assert at.look() == {}


def test_released_partitions_are_forgotten(at: Bench, billing: Consumer) -> None:
    at.fold(billing.epoch(1), classic("other", 1))
    at.look()
    at.fold(billing.epoch(2))
    at.positions.release([0])
    at.reports.release([0])
    assert at.look() == {}
    assert len(at.positions.states) == len(at.reports) == 0
    at.fold(billing.epoch(2), counted=False)
    assert at.only().rebalances == 0


def test_malformed_records_are_found_and_change_nothing(at: Bench, billing: Consumer) -> None:
    key, value = billing.epoch(1)
    assert value is not None
    at.fold((key, value), billing.member("m"))
    at.look()
    at.fold((key, value[:4]), (billing.member("n")[0], b"\0"))
    assert at.look() == {}
    problems = [rejected.problem for rejected in at.findings.rejected]
    assert [p.field for p in problems if isinstance(p, Malformed)] == [
        "value.epoch",
        "value.version",
    ]
    assert [rejected.stored.offset for rejected in at.findings.rejected] == [2, 3]
    folded = at.fold((key[:-1], value))
    assert [malformed.field for _, malformed in folded.rejected] == ["key.group"]


def test_tags_of_later_versions_are_counted(at: Bench, writer: GroupWriter) -> None:
    schema = writer.schemas["ConsumerGroupMetadataValue"]
    value = schema.encoded(schema.filled({"epoch": 4}), 0, more_tags=b"new")
    at.fold((encode.part_key(3, "billing"), value))
    assert at.only().generation == 4
    assert at.findings.unknown_tags == {(3, 0): 1}


KEYS = st.sampled_from(
    [encode.group_key("a"), encode.group_key("b"), encode.offset_key("a", "orders", 0)]
    + [encode.part_key(version, "a") for version in (3, 4, 6, 9, 11, 12, 15, 17, 20, 23, 24)]
    + [encode.part_key(version, "a", "m") for version in (5, 7, 8, 10, 13, 14, 16, 19, 21, 22)]
)
BYTES = st.binary(max_size=40).map(lambda content: b"\0\0" + content) | st.binary(max_size=8)


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(KEYS, BYTES | st.none()), max_size=12), max_size=4))
def test_whatever_the_bytes_there_is_one_state_per_group(looks: list[list[Record]]) -> None:
    bench = Bench()
    published: dict[str, GroupEvent | None] = {}
    for records in looks:
        bench.fold(*records)
        published |= bench.look()
    published |= bench.look()
    for answer in bench.answers.values():
        answer.set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    published |= bench.look()
    for name in ("a", "b"):
        records = bench.positions.states.get(0, name)
        position = bench.positions.groups.get(0, name)
        has_head = records is not None and records.head() is not None
        has_positions = position is not None and not position.is_empty
        assert (published.get(name) is not None) == (has_head or has_positions)
    assert bench.look() == {}
