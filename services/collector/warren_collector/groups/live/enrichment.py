"""An event about a group, completed by what is live and by what follows from both: pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from warren.contracts import GroupEvent, GroupMember

from warren_collector.groups.live.group import LiveGroup

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
    }


def _is_assigned(event: GroupEvent) -> bool:
    """Whether the members and their assignments are known, and final."""
    if event.protocol == "classic" and event.protocol_type not in CONSUMER_TYPES:
        return False
    if event.state == "Stable":
        return bool(event.members)  # it has some: if none is known, nobody may say who they are
    return event.state in _MEMBERLESS_STATES or (not event.state and bool(event.members))
