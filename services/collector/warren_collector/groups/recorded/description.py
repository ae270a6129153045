"""A group's records become its event: pure. Live figures are added to the event by others."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from warren.contracts import GroupEvent, GroupMember
from warren_wire.records import GroupMetadata, GroupRecord, Member

from warren_collector.groups.recorded.records import (
    CONSUMER_GROUP,
    SHARE_GROUP,
    STREAMS_GROUP,
    GroupRecords,
    epoch_of,
)

Protocol = Literal["classic", "consumer", "share", "streams"]
TopicName = Callable[[UUID], str | None]


@dataclass(frozen=True, slots=True)
class Kinds:
    """Key versions of the records of a protocol.

    `stable` is the state of a member that has what it shall have (Kafka's two MemberState classes).
    """

    protocol: Protocol
    member: int
    target: int
    current: int
    stable: int


_KINDS = {
    CONSUMER_GROUP: Kinds("consumer", member=5, target=6, current=8, stable=0),
    SHARE_GROUP: Kinds("share", member=10, target=12, current=14, stable=0),
    STREAMS_GROUP: Kinds("streams", member=19, target=20, current=22, stable=1),
}
_PARTITION_METADATA = (4, 9, 18)
_SHARE_PARTITIONS = 15
_REGEX = 16
_TOPOLOGY = 23


@dataclass(slots=True)
class Described:
    """What the records tell of a group.

    `unnamed`: some of its topics are known by id only, and are missing from the assignments.
    `topics` are those that it may be about.
    """

    fields: dict[str, Any]
    unnamed: bool = False
    topics: set[str] = field(default_factory=set)

    def event(self, cluster: str, group: str, position: int, observed_at: int) -> GroupEvent:
        return GroupEvent(
            cluster=cluster,
            group=group,
            position=position,
            observed_at=observed_at,
            **self.fields,
        )


def count_rebalances(group: GroupRecords) -> None:
    """Looks whether the group has another generation or epoch than before."""
    head = group.head()
    if head is None:
        return
    key, stored, record = head
    if isinstance(record, GroupMetadata):
        at = record.state_at if record.state_at >= 0 else _known(stored.time)
    else:
        at = _assigned_at(group, _KINDS[key.version], _known(stored.time))
    group.rebalances.observe(epoch_of(record), at)


def describe(group: GroupRecords | None, topic_name: TopicName) -> Described:
    """The group as its decoded records have it.

    One without any that says what it is has committed offsets alone: Kafka calls it an empty
    classic group.
    """
    head = None if group is None else group.head()
    if group is None or head is None:
        return Described({"protocol": "classic", "state": "Empty"})
    key, _, record = head
    if isinstance(record, GroupMetadata):
        described = Described(
            {
                "protocol": "classic",
                "protocol_type": record.protocol_type,
                "state": "Stable" if record.members else "Empty",
                "assignor": record.protocol or "",
                "leader": record.leader,
                "members": [
                    _classic_member(m)
                    for m in sorted(record.members, key=lambda member: member.member_id)
                ],
            }
        )
    else:
        described = _modern(group, record, _KINDS[key.version], topic_name)
    described.fields |= {
        "generation": epoch_of(record),
        "rebalances": group.rebalances.seen,
        "last_rebalance_at": group.rebalances.last_at,
    }
    return described


def _classic_member(member: Member) -> GroupMember:
    subscribed = member.subscribed
    return GroupMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.host,
        assignment=_sorted(member.assignment),
        subscription=[] if subscribed is None else sorted(set(subscribed.topics)),
        rack=None if subscribed is None else subscribed.rack or None,
    )


def _modern(
    group: GroupRecords, head: GroupRecord, kinds: Kinds, topic_name: TopicName
) -> Described:
    described = Described({"protocol": kinds.protocol})
    topology = _topology(group)
    # Topics that records have with id and name: of share groups, and of older brokers.
    topics: list[dict[str, Any]] = []
    for version in _PARTITION_METADATA:
        metadata = group.one(version)
        topics += [] if metadata is None else metadata[1].fields["topics"]
    share = group.one(_SHARE_PARTITIONS)
    if share is not None:
        topics += share[1].fields["initializing_topics"] + share[1].fields["initialized_topics"]
    named = {topic["topic_id"]: topic["topic_name"] for topic in topics}
    current = dict(group.parts(kinds.current))
    members = []
    for member_id, record in sorted(group.parts(kinds.member), key=lambda part: part[0]):
        subscription = _subscription(group, record) or sorted(
            {topic for topics in topology.values() for topic in topics}
        )
        described.topics.update(subscription)
        own = current.get(member_id)
        members.append(
            GroupMember(
                member_id=member_id,
                instance_id=record.fields.get("instance_id"),
                client_id=record.fields["client_id"],
                host=record.fields["client_host"],
                assignment=_assignment(
                    own, topology, lambda one: named.get(one) or topic_name(one), described
                ),
                subscription=subscription,
                subscribed_regex=record.fields.get("subscribed_topic_regex") or None,
                epoch=0 if own is None else own.fields["member_epoch"],
                rack=record.fields["rack_id"] or None,
            )
        )
    described.fields |= {
        "state": _state(group, head, kinds),
        "assignor": _assignor(group, kinds),
        "members": members,
    }
    return described


def _state(group: GroupRecords, head: GroupRecord, kinds: Kinds) -> str:
    """As Kafka's ConsumerGroup, ShareGroup and StreamsGroup derive it."""
    members = [member_id for member_id, _ in group.parts(kinds.member)]
    if not members:
        return "Empty"
    if kinds.protocol == "share":
        return "Stable"
    if kinds.protocol == "streams":
        topology = group.one(_TOPOLOGY)
        validated = head.fields["validated_topology_epoch"]
        if topology is None or topology[1].fields["epoch"] != validated:
            return "NotReady"
    target = group.one(kinds.target)
    assigned = 0 if target is None else target[1].fields["assignment_epoch"]
    if head.fields["epoch"] > assigned:
        return "Assigning"
    current = dict(group.parts(kinds.current))
    for member_id in members:
        own = current.get(member_id)
        if (
            own is None
            or own.fields["state"] != kinds.stable
            or own.fields["member_epoch"] != assigned
        ):
            return "Reconciling"
    return "Stable"


def _assigned_at(group: GroupRecords, kinds: Kinds, otherwise: int | None) -> int | None:
    """When the newest target assignment was computed; older brokers do not write it down."""
    target = group.one(kinds.target)
    if target is None:
        return otherwise
    stored, record = target
    return record.fields["assignment_timestamp"] or _known(stored.time) or otherwise


def _assignor(group: GroupRecords, kinds: Kinds) -> str:
    """The one that most members name; empty where the broker's default decides."""
    named = Counter(
        record.fields["server_assignor"]
        for _, record in group.parts(kinds.member)
        if record.fields.get("server_assignor")
    )
    return max(sorted(named), key=named.__getitem__, default="")


def _subscription(group: GroupRecords, member: GroupRecord) -> list[str]:
    """Topics that are named and those that the regular expression was found to match."""
    topics = set(member.fields.get("subscribed_topic_names", ()))
    regex = member.fields.get("subscribed_topic_regex")
    matched = group.one(_REGEX, regex) if regex else None
    if matched is not None:
        topics.update(matched[1].fields["topics"])
    return sorted(topics)


def _topology(group: GroupRecords) -> dict[str, list[str]]:
    """Topics that a streams group's subtopologies read, by subtopology."""
    topology = group.one(_TOPOLOGY)
    if topology is None:
        return {}
    return {
        one["subtopology_id"]: sorted(
            {*one["source_topics"], *(topic["name"] for topic in one["repartition_source_topics"])}
        )
        for one in topology[1].fields["subtopologies"]
    }


def _assignment(
    current: GroupRecord | None,
    topology: Mapping[str, list[str]],
    topic_name: TopicName,
    described: Described,
) -> dict[str, list[int]]:
    """Partitions by topic. Of a streams task: its partition of every topic that it reads."""
    assigned: dict[str, list[int]] = {}
    if current is None:
        return assigned
    for one in current.fields.get("assigned_partitions", ()):
        name = topic_name(one["topic_id"])
        if name is None:
            described.unnamed = True
        else:
            assigned.setdefault(name, []).extend(one["partitions"])
    for task in current.fields.get("active_tasks", ()):
        for topic in topology.get(task["subtopology_id"], ()):
            assigned.setdefault(topic, []).extend(task["partitions"])
    return _sorted(assigned)


def _sorted(assignment: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Negative numbers are no partitions, whoever wrote them."""
    return {
        topic: sorted({p for p in partitions if p >= 0})
        for topic, partitions in sorted(assignment.items())
    }


def _known(time: int) -> int | None:
    return time if time >= 0 else None
