"""What DescribeGroups and its younger sisters answer, as live groups: pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warren.contracts import GroupEvent, GroupMember
from warren.errors import MalformedRecord
from warren_wire.records import CONSUMER, Buffer, read_assignment, read_subscription

from warren_collector.admin.group_admin import GroupType, ListedGroup, Refusal


@dataclass(frozen=True, slots=True)
class LiveGroup:
    """`members` is None where nobody says who they are: a right is missing, or nothing can be asked
    about groups of this protocol. `generation` -1 and `state` empty: not told.
    """

    name: str
    protocol: GroupType
    protocol_type: str = ""
    state: str = ""
    generation: int = -1
    assignor: str = ""
    coordinator: int | None = None
    members: tuple[GroupMember, ...] | None = None
    rebalances: int = 0
    """Seen since this collector asks, at least: what happened between two looks is one."""
    last_rebalance_at: int | None = None
    """Unix ms of the look that showed it."""


@dataclass(frozen=True, slots=True)
class LiveState:
    """All groups of some shards; `partitions` are the counts of the topics that they subscribe."""

    shards: frozenset[int] = frozenset()
    groups: Mapping[str, LiveGroup] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)


def live_group(listed: ListedGroup, described: Mapping[str, Any] | Refusal | None) -> LiveGroup:
    """`described`: an answer about the group, of any of the requests, if there was one."""
    if described is None or isinstance(described, Refusal):
        return LiveGroup(
            name=listed.name,
            protocol=listed.type,
            protocol_type=listed.protocol_type if listed.type == "classic" else "",
            state=listed.state,
            coordinator=listed.coordinator,
        )
    is_classic = listed.type == "classic"
    read = _classic_member if is_classic else _member
    protocol_type = described.get("protocol_type", "")
    members = [read(member, protocol_type) for member in described["members"]]
    return LiveGroup(
        name=listed.name,
        protocol=listed.type,
        protocol_type=protocol_type,
        state=described["state"],
        generation=described.get("group_epoch", -1),
        assignor=described["protocol"] if is_classic else described["assignor"],
        coordinator=listed.coordinator,
        members=tuple(sorted(members, key=lambda member: member.member_id)),
    )


def _classic_member(member: Mapping[str, Any], protocol_type: str) -> GroupMember:
    """Version 3 of the response has other names and no instance ids."""
    is_consumer = protocol_type == CONSUMER
    subscription = member.get("subscription", member.get("member_metadata")) or b""
    subscribed = read_subscription(subscription) if is_consumer else None
    assignment = member.get("assignment", member.get("member_assignment")) or b""
    return GroupMember(
        member_id=member["member_id"],
        instance_id=member.get("instance_id"),
        client_id=member["client_id"],
        host=member["client_host"],
        assignment=_assignment(assignment) if is_consumer else {},
        subscription=[] if subscribed is None else sorted(set(subscribed.topics)),
        rack=None if subscribed is None else subscribed.rack or None,
    )


def _member(member: Mapping[str, Any], _protocol_type: str) -> GroupMember:
    return GroupMember(
        member_id=member["member_id"],
        instance_id=member.get("instance_id"),
        client_id=member["client_id"],
        host=member["client_host"],
        assignment=_sorted(
            {topic["topic"]: topic["partitions"] for topic in member["assignment"]["topics"]}
        ),
        subscription=sorted(set(member["subscription"])),
        subscribed_regex=member.get("subscribed_regex") or None,
        epoch=member["member_epoch"],
        rack=member["rack"] or None,
    )


def _assignment(content: bytes) -> dict[str, list[int]]:
    """Nothing for bytes that are no assignment: clients may store what they like."""
    try:
        return _sorted(read_assignment(Buffer(content)).partitions)
    except MalformedRecord:
        return {}


def _sorted(assignment: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    return {topic: sorted(set(numbers)) for topic, numbers in sorted(assignment.items())}


# An event about a group, completed by what is live and by what follows from both: pure.


CONSUMER_TYPES = ("", "consumer")
"""Types of classic groups whose assignments are partitions of topics."""
_MEMBERLESS_STATES = ("Empty", "Dead")


def idle_members(members: Sequence[GroupMember]) -> int:
    """Members that are assigned nothing."""
    return _assigned_counts(members).count(0)


def assignment_skew(members: Sequence[GroupMember]) -> float | None:
    """Most partitions of a member / mean; 1 is even. None while nothing is assigned."""
    counts = _assigned_counts(members)
    total = sum(counts)
    return max(counts) * len(counts) / total if total else None


def unowned(members: Sequence[GroupMember], partitions: Mapping[str, int]) -> dict[str, list[int]]:
    """Partitions of subscribed topics that no member is assigned, by topic; none: not listed."""
    owned: dict[str, set[int]] = defaultdict(set)
    for member in members:
        for topic, numbers in member.assignment.items():
            owned[topic].update(numbers)
    subscribed = {topic for member in members for topic in member.subscription}
    missing = {
        topic: [p for p in range(partitions.get(topic, 0)) if p not in owned[topic]]
        for topic in sorted(subscribed)
    }
    return {topic: numbers for topic, numbers in missing.items() if numbers}


def _assigned_counts(members: Sequence[GroupMember]) -> list[int]:
    return [sum(map(len, member.assignment.values())) for member in members]


def enriched(
    event: GroupEvent, live: LiveGroup | None, partitions: Mapping[str, int]
) -> GroupEvent:
    """The event with the live fields, and idle members, assignment skew and unowned partitions.

    Records, where there are any, know the members better: they are newer than the last look.
    `partitions`: how many each topic has; the others' unowned partitions are not known.
    """
    if live is not None:
        event = event.model_copy(update=_live_fields(event, live))
    return event.model_copy(update=_derived(event, partitions))


def _live_fields(event: GroupEvent, live: LiveGroup) -> dict[str, Any]:
    fields: dict[str, Any] = {"coordinator": live.coordinator}
    if is_recorded(event):
        # The coordinator writes a classic group down when a rebalance is over, not before; the
        # newer protocols' state follows from their records.
        if event.protocol == "classic" or not event.state:
            fields["state"] = live.state or event.state
        fields["assignor"] = event.assignor or live.assignor
        return fields
    return fields | {
        "protocol": live.protocol,
        "protocol_type": live.protocol_type,
        "state": live.state or event.state,
        "generation": live.generation,
        "assignor": live.assignor,
        "members": list(live.members or ()),
        "rebalances": live.rebalances,
        "last_rebalance_at": live.last_rebalance_at,
    }


def is_recorded(event: GroupEvent) -> bool:
    """Whether records say what this group is, and not only what it has committed."""
    return event.generation >= 0 or bool(event.members)


def _derived(event: GroupEvent, partitions: Mapping[str, int]) -> dict[str, Any]:
    if not _is_assigned(event):
        return {"idle_members": None, "assignment_skew": None, "unowned": {}}
    return {
        "idle_members": idle_members(event.members),
        "assignment_skew": assignment_skew(event.members),
        "unowned": unowned(event.members, partitions),
        "absent": sorted(
            topic
            for topic in {each for member in event.members for each in member.subscription}
            if partitions.get(topic) == 0
        ),
    }


def _is_assigned(event: GroupEvent) -> bool:
    """Whether the members and their assignments are known, and final."""
    if event.protocol == "classic" and event.protocol_type not in CONSUMER_TYPES:
        return False
    if event.state == "Stable":
        return bool(event.members)  # it has some: if none is known, nobody may say who they are
    return event.state in _MEMBERLESS_STATES or (not event.state and bool(event.members))
