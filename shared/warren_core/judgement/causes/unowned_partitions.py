"""Cause: the group has members, and none of them owns the partitions."""

from warren.contracts.status import Status
from warren.words import counted

from warren_core.judgement.causes.catalogue import Found, cause, found, listed
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
        f"No owner for {listed(facts, rows)}, though the group has "
        f"{counted(len(group.members), 'member')}",
        "Check that all members subscribe to the topic and use the same assignor",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        members=len(group.members),
    )
