"""Cause: the group has members, and none of them owns the partitions."""

from __future__ import annotations

from warren.contracts.status import Status

from warren_core.judgement.causes.catalogue import Found, cause, found, has, listed
from warren_core.judgement.facts import Facts


@cause(
    "root",
    50,
    "No member owns the partitions",
    "all that has stopped has no owner, though the group has members, also where none of them is "
    "subscribed to the topic any more",
)
def unowned_partitions(facts: Facts) -> Found | None:
    group, rows = facts.membership, facts.standing()
    if group is None or not group.members or not group.managed or not group.owners or not rows:
        return None
    if "Rebalance" in group.state or facts.with_status(Status.STALL):
        return None
    # Nobody need be subscribed to a topic any more: then nobody misses its partitions.
    if not group.owners.keys().isdisjoint(facts.names(rows)):
        return None
    topic, partition = facts.layout.name(rows[0])
    return found(
        f"{listed(facts, rows)} {has(rows)} no owner, though {len(group.members)} "
        f"{'member is' if len(group.members) == 1 else 'members are'} in the group",
        "are all members subscribed to the topic, and do they have the same assignor?",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        members=len(group.members),
    )
