"""Cause: nobody has ever committed the partitions that stand still."""

from warren.words import duration, records

from warren_core.judgement.causes.catalogue import Found, address, cause, found, listed
from warren_core.judgement.columns import Latest
from warren_core.judgement.facts import Facts


@cause(
    "root",
    55,
    "Never committed",
    "nobody has ever committed all that stands still, though records came after it was first seen; "
    "not where a group with members has no owner for it",
)
def never_committed(facts: Facts) -> Found | None:
    rows = facts.bad
    if not rows or (facts.latest[Latest.COMMITTED, rows] >= 0).any():
        return None
    since = facts.stands_since(rows)
    topic, partition = facts.layout.name(rows[0])
    group = facts.membership
    number = None if group is None else group.owners.get((topic, partition))
    if group is None or number is None:
        who, client_id, host = "no known owner", None, None
        look = (
            "Check whether anybody reads it: a consumer that assigns partitions to itself (assign) "
            "does not see those that are added"
        )
    else:
        member = group.members[number]
        client_id, host = member.client_id, member.host
        who = f"owner {client_id} at {address(host)}"
        look = (
            f"Check the log of {client_id}: does it fail at its first record, or never commit? "
            "Where a group keeps its offsets elsewhere, ignore it in [[evaluation.overrides]]"
        )
    return found(
        f"Never committed: {listed(facts, rows)}; at least "
        f"{records(int(facts.lag[rows].sum()))} came in {duration(facts.now_ms - since)}; {who}",
        look,
        topic=topic,
        partition=partition,
        partitions=len(rows),
        since=since,
        client_id=client_id,
        host=host,
    )
