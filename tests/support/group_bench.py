"""A collector's state of groups, the records that make it up, and what would be published."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any
from uuid import UUID

import support.coordinator_records as encode
from confluent_kafka import Uuid
from support.coordinator_batches import batch
from support.kafka_schemas import GroupWriter
from support.manual_clock import ManualClock
from support.quiet_coordinator import QuietCoordinator
from warren.contracts import GroupEvent
from warren_collector.groups.recorded.records import Rejected
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.groups.reports import GroupReport, GroupReports
from warren_collector.groups.topic_ids import TopicIds
from warren_collector.positions.recorded import RecordedPositions
from warren_collector.sources.source import Folded
from warren_wire.records import GroupMetadata, Member

ORDERS, RETURNS = UUID(int=2**127 + 5), UUID(int=6)
Record = tuple[bytes | None, bytes | None]


class Description:
    """What an answer about a topic has that is of interest."""

    def __init__(self, topic_id: UUID) -> None:
        high, low = divmod(topic_id.int, 2**64)
        self.topic_id = Uuid(*(half - (half >> 63 << 64) for half in (high, low)))


def _is_allowed(group: str) -> bool:
    return not group.startswith("denied")


class GroupBench:
    """A collector's state of one partition of the offsets topic, and what it would publish."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_000_000)
        self.states = GroupStates(_is_allowed)
        self.positions = RecordedPositions(self.states, _is_allowed)
        self.coordinator = QuietCoordinator()
        self.asked: list[list[str]] = []
        self.answers: dict[str, Future[Any]] = {}
        self.topic_ids = TopicIds(self._ask, self.clock)
        self.reports = GroupReports(
            "prod", self.states, self.positions.groups, self.topic_ids, self.coordinator
        )
        self.rejected: list[Rejected] = []
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
        return self.reports.due({0: self.offset}, 5000, self.rejected)

    def look(self) -> dict[str, GroupEvent | None]:
        """A tick: what is due is published."""
        due = self.due()
        self.reports.published(due)
        self.positions.published(self.positions.groups.due(-1.0), [], at=1.0)
        return {report.place[1]: report.event for report in due}

    def look_at_groups(self) -> None:
        """The half of a tick that is about groups; their positions stay due."""
        self.reports.published(self.due())

    def only(self) -> GroupEvent:
        (event,) = self.look().values()
        assert event is not None
        return event


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


class ConsumerGroup:
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
