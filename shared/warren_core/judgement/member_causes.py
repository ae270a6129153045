"""Causes in the group: who is in it, what they own, how often that changes."""

from __future__ import annotations

from warren.contracts.cause import Finding
from warren.contracts.status import Status
from warren.words import duration

from warren_core.evaluation.explanations import rebalanced_for
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.track import Mark
from warren_core.judgement.cause_words import finding, has, listed
from warren_core.judgement.facts import Facts
from warren_core.judgement.membership import MOST_REBALANCES

# Membership and commits are observed apart: so long one may be behind the other.
APART_MS = 15_000
REBALANCES, REBALANCES_MS, LAST_REBALANCE_MS = 4, 5 * 60_000, 2 * 60_000
ENDLESS_MS = 2 * 60_000
_WHO_REBALANCES = (
    "look for members that end and start again, or that poll more rarely than max.poll.interval.ms"
)


def no_members(facts: Facts) -> Finding | None:
    group = facts.membership
    if group is None or group.empty_since is None or not group.managed:
        return None
    empty_ms = facts.now_ms - group.empty_since
    # Whoever commits from outside the group is not missed by it.
    outside = facts.newest_commit_seen_at() > group.empty_since + APART_MS
    if empty_ms < APART_MS or outside or not facts.standing():
        return None
    client_id, host = group.left or (None, None)
    last = "" if client_id is None else f"; {client_id} at {_address(host)} was there last"
    return finding(
        "no_members",
        f"nobody has been in the group for {duration(empty_ms)}{last}",
        "start its consumers, or find out why they end",
        since=group.empty_since,
        client_id=client_id,
        host=host,
        members=0,
    )


def rebalance_loop(facts: Facts) -> Finding | None:
    group = facts.membership
    times = (
        []
        if group is None
        else [at for at in group.rebalanced_at if 0 <= facts.now_ms - at <= REBALANCES_MS]
    )
    if group is None or len(times) < REBALANCES or facts.now_ms - times[-1] > LAST_REBALANCE_MS:
        return _endless_rebalance(facts)
    return finding(
        "rebalance_loop",
        f"{len(times)}{' or more' if len(times) >= MOST_REBALANCES else ''} rebalances within "
        f"{duration(REBALANCES_MS)}, the last one {duration(facts.now_ms - times[-1])} ago: "
        "nothing is consumed while one goes on",
        _WHO_REBALANCES,
        times=len(times),
        within_ms=REBALANCES_MS,
        members=len(group.members),
    )


def _endless_rebalance(facts: Facts) -> Finding | None:
    """None is ever over, so that none is counted: each is cut short by the next member."""
    rows = facts.standing()
    if facts.presence is not Presence.REBALANCING or facts.track is None or not rows:
        return None
    took_ms = int(facts.track.marks[Mark.REBALANCED, rows].max())
    if took_ms < ENDLESS_MS:
        return None
    return finding(
        "rebalance_loop",
        f"since it read anything the group has rebalanced for {rebalanced_for(took_ms)}, and "
        "still does: nothing is consumed meanwhile",
        _WHO_REBALANCES,
        within_ms=took_ms,
    )


def unowned_partitions(facts: Facts) -> Finding | None:
    group, rows = facts.membership, facts.standing()
    if group is None or not group.members or not group.managed or not group.owners or not rows:
        return None
    if "Rebalance" in group.state or facts.with_status(Status.STALL):
        return None
    # Nobody need be subscribed to a topic any more: then nobody misses its partitions.
    if not group.owners.keys().isdisjoint(facts.names(rows)):
        return None
    topic, partition = facts.layout.name(rows[0])
    return finding(
        "unowned_partitions",
        f"{listed(facts, rows)} {has(rows)} no owner, though {len(group.members)} "
        f"{'member is' if len(group.members) == 1 else 'members are'} in the group",
        "are all members subscribed to the topic, and do they have the same assignor?",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        members=len(group.members),
    )


def one_member(facts: Facts) -> Finding | None:
    """All that stands is one member's, most of what it has, and the others are well."""
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
    who = f"{member.client_id} at {_address(member.host)}"
    return finding(
        "one_member",
        f"{listed(facts, rows)} {_belong(rows)} to member {who}; "
        f"the {'other one is' if others == 1 else f'{others} others are'} well",
        f"look at {who}; when it ends, the others take over",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        client_id=member.client_id,
        host=member.host,
        members=len(group.members),
    )


def _address(host: str | None) -> str:
    """Java writes a slash before it where there is no name."""
    return (host or "an unknown host").removeprefix("/")


def _belong(rows: list[int]) -> str:
    return "belongs" if len(rows) == 1 else "belong"
