"""Cause: all bad partitions belong to one member."""

from warren.contracts.status import Status

from warren_core.judgement.causes.catalogue import Found, address, cause, found, listed
from warren_core.judgement.facts import Facts


@cause(
    "root",
    60,
    "One member stands still",
    "all that stands still belongs to one member, is half of what it owns (of STALL all), and "
    "other members own partitions and are well",
)
def one_member(facts: Facts) -> Found | None:
    group, rows = facts.membership, facts.standing()
    if group is None or len(group.members) < 2 or not rows or len(rows) < len(facts.bad):
        return None
    owners = {group.owners.get(name) for name in facts.names(rows)}
    if len(owners) != 1 or None in owners:
        return None
    number = next(iter(owners))
    assert number is not None
    member = group.members[number]
    owned = sum(map(len, member.partitions.values()))
    others = len({*group.owners.values()} - {number})
    # Commits go on: what it cannot get past may be a record in some of its partitions.
    enough = owned if facts.with_status(Status.STALL) else max(owned / 2, 1)
    alone = len(rows) == 1 and facts.worst is Status.STALL
    if not others or alone or len(rows) < enough:
        return None
    topic, partition = facts.layout.name(rows[0])
    who = f"{member.client_id} at {address(member.host)}"
    return found(
        f"Member {who} stands still on {listed(facts, rows)}; "
        f"the {'other member keeps' if others == 1 else f'other {others} members keep'} up",
        f"Check {who}; once it leaves, the others take over",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        client_id=member.client_id,
        host=member.host,
        members=len(group.members),
    )
