"""Causes that lie with who is there: members, and the brokers that they ask."""

import numpy as np
from warren.contracts.status import Status
from warren.path_segments import segment
from warren.words import counted, duration, grouped, records, shell_word

from warren_core.evaluation import UNKNOWN, Column, Mark, Presence, rebalanced_for
from warren_core.judgement.causes.catalogue import (
    BOOTSTRAP,
    Found,
    address,
    cause,
    found,
    found_at,
    listed,
)
from warren_core.judgement.columns import Latest, Reported
from warren_core.judgement.facts import Facts
from warren_core.judgement.membership import MOST_REBALANCES
from warren_core.judgement.state import MOST_OPENINGS


@cause(
    "root",
    5,
    "No member subscribes to the topic",
    "all that is not OK is of topics to which no member has subscribed for three minutes, though "
    "their offsets are still committed, and which nobody has committed since",
)
def unsubscribed(facts: Facts) -> Found | None:
    rows = facts.unsubscribed
    if facts.bad or not rows:
        return None
    topics = sorted({topic for topic, _ in facts.names(rows)})
    more = f" and {grouped(len(topics) - 1)} more topics" if len(topics) > 1 else ""
    unread = sum(max(int(facts.lag[row]), 0) for row in rows)
    topic, group = topics[0], facts.group
    path = "/".join(map(segment, (facts.cluster, "consumer", group, "topic", topic)))
    return found_at(
        facts,
        rows,
        f"No member subscribes to {topic}{more} any more; {records(unread)} "
        f"{'stays' if unread == 1 else 'stay'} unread",
        "If a consumer of it has died, start it. Else subscribe again, or delete the committed "
        "offsets: kafka-consumer-groups "
        f"{BOOTSTRAP} --delete-offsets --group {shell_word(group)} --topic {shell_word(topic)}; "
        f"or let Warren forget them: DELETE /v3/kafka/{path}",
    )


STOPS, WITHIN_MS = 3, 4 * 3_600_000


@cause(
    "root",
    15,
    "Crash loop: stops again and again",
    f"all that is not OK has stopped, and it is the third incident within {duration(WITHIN_MS)}",
)
def crash_loop(facts: Facts) -> Found | None:
    rows = facts.with_status(Status.STOP)
    if not rows or len(rows) < len(facts.bad):
        return None
    times = [at for at in facts.state.openings if facts.now_ms - at <= WITHIN_MS]
    if len(times) < STOPS:
        return None
    within = times[-1] - times[0]
    return found(
        f"{listed(facts, rows)} stopped; {len(times)} incidents in {duration(within)}",
        "Find out why the consumers exit: exit codes, memory, the last lines of their logs",
        partitions=len(rows),
        since=times[0],
        times=len(times),
        within_ms=within,
    )


APART_MS = 15_000
"""Membership and commits are observed apart: so long one may be behind the other."""


@cause(
    "root",
    20,
    "No members in the group",
    f"a partition has stopped, the group has had no member for {APART_MS // 1000} s, and nobody "
    "has committed since; never of consumers that assign partitions to themselves",
)
def no_members(facts: Facts) -> Found | None:
    group = facts.membership
    if group is None or group.empty_since is None or not group.managed:
        return None
    empty_ms = facts.now_ms - group.empty_since
    # Whoever commits from outside the group is not missed by it.
    made = (facts.state.latest[Latest.COMMITTED] >= 0) & (facts.state.windows.filled > 0)
    seen_at = facts.state.windows.newest(Column.OBSERVED_AT)[made]
    outside = (seen_at > group.empty_since + APART_MS).any()
    if empty_ms < APART_MS or outside or not facts.standing():
        return None
    client_id, host = group.left or (None, None)
    last = "" if client_id is None else f"; the last was {client_id} at {address(host)}"
    action = "Restart the consumers and check why they exited, or delete the group if it is retired"
    if alike := group.left_before + group.left_after:
        were = "was" if alike == 1 else "were"
        last += f"; {counted(alike, 'other group')} named alike {were} left"
        action = "Delete the groups that are retired, or leave such names out with groups_deny"
    return found(
        f"No members for {duration(empty_ms)}{last}",
        action,
        since=group.empty_since,
        client_id=client_id,
        host=host,
        members=0,
    )


REBALANCES, REBALANCES_MS, LAST_REBALANCE_MS = 4, 5 * 60_000, 2 * 60_000
ENDLESS_MS = 2 * 60_000
_WHO_REBALANCES = "Check for members that crash and restart, or that exceed max.poll.interval.ms"


@cause(
    "root",
    30,
    "Rebalance loop",
    "4 rebalances within 5 minutes were seen, the last one within 2; or, by `progress`, it "
    "rebalances, and has for 2 min since anything was read",
)
def rebalance_loop(facts: Facts) -> Found | None:
    group = facts.membership
    known = () if group is None else group.rebalanced_at
    times = [at for at in known if 0 <= facts.now_ms - at <= REBALANCES_MS]
    if group is None or len(times) < REBALANCES or facts.now_ms - times[-1] > LAST_REBALANCE_MS:
        # None is ever over, so that none is counted: each is cut short by the next member.
        rows = facts.standing()
        if facts.presence is not Presence.REBALANCING or facts.state.track is None or not rows:
            return None
        took_ms = int(facts.state.track.marks[Mark.REBALANCED, rows].max())
        if took_ms < ENDLESS_MS:
            return None
        return found(
            f"Rebalancing for {rebalanced_for(took_ms)} without an end, and nothing read since",
            _WHO_REBALANCES,
            within_ms=took_ms,
        )
    return found(
        f"Rebalance loop: {len(times)}{' or more' if len(times) >= MOST_REBALANCES else ''} in "
        f"{duration(REBALANCES_MS)}, the last {duration(facts.now_ms - times[-1])} ago",
        _WHO_REBALANCES,
        times=len(times),
        within_ms=REBALANCES_MS,
        members=len(group.members),
    )


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
    return found_at(
        facts,
        rows,
        f"No owner for {listed(facts, rows)}, though the group has "
        f"{counted(len(group.members), 'member')}",
        "Check that all members subscribe to the topic and use the same assignor",
        members=len(group.members),
    )


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
    number = next(iter(owners))
    if len(owners) > 1 or number is None:
        return None
    member = group.members[number]
    owned = sum(map(len, member.partitions.values()))
    others = len({*group.owners.values()} - {number})
    # Commits go on: what it cannot get past may be a record in some of its partitions.
    enough = owned if facts.with_status(Status.STALL) else max(owned / 2, 1)
    alone = len(rows) == 1 and facts.worst is Status.STALL
    if not others or alone or len(rows) < enough:
        return None
    who = f"{member.client_id} at {address(member.host)}"
    return found_at(
        facts,
        rows,
        f"Member {who} stands still on {listed(facts, rows)}; "
        f"the {'other member keeps' if others == 1 else f'other {others} members keep'} up",
        f"Check {who}; once it leaves, the others take over",
        client_id=member.client_id,
        host=member.host,
        members=len(group.members),
    )


LEAST_LED, MOST_OF = 3, 0.75


@cause(
    "root",
    70,
    "One broker's partitions stand still",
    "all that is not OK is led by one broker: three partitions at least, of several members, and "
    "3/4 of what it leads; three or more that others lead are well. Leaders come with the offset "
    "events",
)
def one_broker(facts: Facts) -> Found | None:
    """By chance few partitions have the same leader: it needs several, of several members."""
    rows, group = facts.bad, facts.membership
    if len(rows) < LEAST_LED or group is None or facts.worst is Status.REWIND:
        return None
    leader = facts.reported[Reported.LEADER]
    broker = int(leader[rows[0]])
    led = int(np.count_nonzero(leader == broker))
    is_one = broker != UNKNOWN and bool((leader[rows] == broker).all())
    others = len(facts.state.layout) - led
    owners = {group.owners.get(name) for name in facts.names(rows)} - {None}
    if not is_one or len(rows) < MOST_OF * led or others < LEAST_LED or len(owners) < 2:
        return None
    return found_at(
        facts,
        rows,
        f"All {grouped(len(rows))} bad partitions are led by broker {broker}; those of other "
        "brokers keep up",
        f"Check broker {broker}: disks, network, request queue",
        broker=broker,
        members=len(group.members),
    )


OPENINGS, OPENINGS_MS = 3, 30 * 60_000


@cause(
    "consequence",
    40,
    "Fails and recovers by turns",
    "this is the third incident within 30 minutes",
)
def flapping(facts: Facts) -> Found | None:
    times = [at for at in facts.state.openings if facts.now_ms - at <= OPENINGS_MS]
    if len(times) < OPENINGS:
        return None
    # Of more than are remembered nobody knows how many there were.
    known = counted(len(times), "incident")
    incidents = f"at least {known}" if len(times) >= MOST_OPENINGS else known
    return found(
        f"Flapping: {incidents} in {duration(OPENINGS_MS)}, each recovered without help",
        "Check what happens when an incident opens: a restart, a pause or a producer burst",
        times=len(times),
        within_ms=OPENINGS_MS,
    )
