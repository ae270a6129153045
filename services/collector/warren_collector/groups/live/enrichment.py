"""An event about a group, completed by what is live and by what follows from both: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warren.contracts import GroupEvent

from warren_collector.groups.live.group import LiveGroup
from warren_collector.groups.members import assignment_skew, idle_members, unowned

CONSUMER_TYPES = ("", "consumer")
"""Types of classic groups whose assignments are partitions of topics."""
_MEMBERLESS_STATES = ("Empty", "Dead")


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
