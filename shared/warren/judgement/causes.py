"""Causes: the first of these that the facts speak clearly for; unknown where none is.

A wrong cause sends people the wrong way, so each asks for evidence that others do not have.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

import numpy as np

from warren.contracts.cause import Cause, CauseEvidence, CauseName
from warren.contracts.status import Status
from warren.evaluation import UNKNOWN, Began, Column
from warren.judgement.facts import Facts
from warren.judgement.paces import pace_cause
from warren.words import duration, grouped, records

# Membership and commits are observed apart: so long one may be behind the other.
APART_MS = 15_000
REBALANCES, REBALANCES_MS, LAST_REBALANCE_MS = 4, 5 * 60_000, 2 * 60_000
# A producer's transaction.timeout.ms is a minute unless it is set; then its coordinator ends it.
OPEN_FOR_LONG_MS = 90_000
LEAST_LED, MOST_OF = 3, 0.75
OPENINGS, OPENINGS_MS = 3, 30 * 60_000

Finding = Callable[[Facts], Cause | None]


def find_cause(facts: Facts) -> Cause:
    for find in _IN_ORDER:
        found = find(facts)
        if found is not None:
            return found
    return _unknown(facts)


def cause(name: CauseName, sentence: str, action: str | None = None, **evidence: object) -> Cause:
    return Cause(
        name=name,
        sentence=sentence,
        action=action,
        evidence=CauseEvidence.model_construct(None, **evidence),
    )


def _beyond_log_end(facts: Facts) -> Cause | None:
    rows = facts.with_status(Status.BEYOND_END)
    if not rows:
        return None
    row = rows[0]
    topic, partition = facts.layout.name(row)
    offset = int(facts.windows.newest(Column.OFFSET)[row])
    log_end = int(facts.windows.log_ends[row, -1])
    return cause(
        "beyond_log_end",
        f"{_listed(facts, rows)} {_has(rows)} a committed offset that the log does not have: "
        f"{grouped(offset)}, and it ends at {grouped(log_end)}",
        "was the topic made anew, or a log cut short? Then set the offset: kafka-consumer-groups "
        f"--reset-offsets --topic {shlex.quote(topic)}:{partition} --to-earliest, or --to-latest",
        topic=topic,
        partition=partition,
        offset=offset,
        log_end=log_end,
        partitions=len(rows),
    )


def _no_members(facts: Facts) -> Cause | None:
    group = facts.membership
    if group is None or group.empty_since is None or not group.managed:
        return None
    empty_ms = facts.now_ms - group.empty_since
    # Whoever commits from outside the group is not missed by it.
    outside = facts.newest_commit_seen_at() > group.empty_since + APART_MS
    if empty_ms < APART_MS or outside or not facts.with_status(Status.STOP):
        return None
    client_id, host = group.left or (None, None)
    last = "" if client_id is None else f"; {client_id} at {host} was there last"
    return cause(
        "no_members",
        f"nobody has been in the group for {duration(empty_ms)}{last}",
        "start its consumers, or find out why they end",
        since=group.empty_since,
        client_id=client_id,
        host=host,
        members=0,
    )


def _rebalance_loop(facts: Facts) -> Cause | None:
    group = facts.membership
    times = (
        []
        if group is None
        else [at for at in group.rebalanced_at if facts.now_ms - at <= REBALANCES_MS]
    )
    if group is None or len(times) < REBALANCES or facts.now_ms - times[-1] > LAST_REBALANCE_MS:
        return None
    return cause(
        "rebalance_loop",
        f"{len(times)} rebalances within {duration(REBALANCES_MS)}, the last one "
        f"{duration(facts.now_ms - times[-1])} ago: nothing is consumed meanwhile",
        "look for members that end and start again, or that poll more rarely than "
        "max.poll.interval.ms",
        times=len(times),
        within_ms=REBALANCES_MS,
        members=len(group.members),
    )


def _records_lost(facts: Facts) -> Cause | None:
    lost = facts.lost()
    if not lost.any():
        return None
    worst = int(lost.argmax())
    topic, partition = facts.layout.name(worst)
    some = int(np.count_nonzero(lost))
    return cause(
        "records_lost",
        f"retention has deleted {records(int(lost.sum()))} that the group had not consumed, of "
        f"{facts.name(worst)}{f' and {some - 1} more' if some > 1 else ''}",
        "what is deleted is gone; raise retention.ms until the group has caught up, and see that "
        "it consumes",
        topic=topic,
        partition=partition,
        offset=facts.committed(worst),
        lost_records=int(lost.sum()),
        partitions=some,
    )


def _unowned(facts: Facts) -> Cause | None:
    group, rows = facts.membership, facts.standing()
    if group is None or not group.members or not group.without_owner or not rows:
        return None
    if "Rebalance" in group.state or facts.with_status(Status.STALL):
        return None
    if not group.without_owner.issuperset(facts.names(rows)):
        return None
    topic, partition = facts.layout.name(rows[0])
    return cause(
        "unowned_partitions",
        f"{_listed(facts, rows)} {_has(rows)} no owner, though {len(group.members)} "
        f"{'member is' if len(group.members) == 1 else 'members are'} in the group",
        "are all members subscribed to the topic, and do they have the same assignor?",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        members=len(group.members),
    )


def _one_member(facts: Facts) -> Cause | None:
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
    return cause(
        "one_member",
        f"{_listed(facts, rows)} {_belong(rows)} to member {member.client_id} at {member.host}; "
        f"the {'other one is' if others == 1 else f'{others} others are'} well",
        f"look at {member.client_id} at {member.host}; when it ends, the others take over",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        client_id=member.client_id,
        host=member.host,
        members=len(group.members),
    )


def _hanging_transaction(facts: Facts) -> Cause | None:
    """All that stands has come to transactions that nobody ends."""
    late, rows = facts.lateness, facts.standing()
    if late is None or not rows or len(rows) < len(facts.bad):
        return None
    at = {(held.topic, held.partition): held for held in late.held_up}
    found = [at.get(name) for name in facts.names(rows)]
    known = [held for held in found if held is not None and held.since is not None]
    if len(known) < len(rows):
        return None
    oldest = min(known, key=lambda held: held.since or 0)
    assert oldest.since is not None
    if facts.now_ms - oldest.since < OPEN_FOR_LONG_MS:
        return None
    whose = f" (transactional id {oldest.transactional_id})" if oldest.transactional_id else ""
    return cause(
        "hanging_transaction",
        f"{_listed(facts, rows)} {_has(rows)} come to a transaction that has been open for "
        f"{duration(facts.now_ms - oldest.since)}{whose}: who reads committed records waits for "
        "its end",
        "find its producer, or end it: kafka-transactions abort --topic "
        f"{shlex.quote(oldest.topic)} --partition {oldest.partition} --start-offset "
        f"{oldest.first_offset}",
        topic=oldest.topic,
        partition=oldest.partition,
        offset=oldest.first_offset,
        since=oldest.since,
        partitions=len(rows),
        transactional_id=oldest.transactional_id,
        producer_id=oldest.producer_id,
    )


def _one_broker(facts: Facts) -> Cause | None:
    """All that is bad is led by one broker, nearly all that it leads is bad, and the rest is well.

    By chance few partitions have the same leader: it needs several, of several members.
    """
    rows, group = facts.bad, facts.membership
    if len(rows) < LEAST_LED or group is None or facts.worst is Status.REWIND:
        return None
    broker = int(facts.leader[rows[0]])
    led = int(np.count_nonzero(facts.leader == broker))
    is_one = broker != UNKNOWN and bool((facts.leader[rows] == broker).all())
    others = len(facts.layout) - led
    owners = {group.owners.get(name) for name in facts.names(rows)} - {None}
    if not is_one or len(rows) < MOST_OF * led or others < LEAST_LED or len(owners) < 2:
        return None
    topic, partition = facts.layout.name(rows[0])
    return cause(
        "one_broker",
        f"{_listed(facts, rows)} {_is(rows)} led by broker {broker}; those led by others are well",
        f"look at broker {broker}: its disks, its network, its request queue",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        broker=broker,
        members=len(group.members),
    )


def _stuck_record(facts: Facts) -> Cause | None:
    """Two records behind at least: of one, the last may be a transaction's end."""
    rows = facts.standing()
    if len(rows) != 1 or facts.worst is not Status.STALL or facts.lag[rows[0]] < 2:
        return None
    row = rows[0]
    topic, partition = facts.layout.name(row)
    offset = int(facts.windows.newest(Column.OFFSET)[row])
    since = facts.stands_since(rows)
    return cause(
        "stuck_record",
        f"{facts.name(row)} has stood at offset {grouped(offset)} for "
        f"{duration(facts.now_ms - since)} while commits go on: there is a record that the group "
        "cannot get past",
        "look at it: kafka-console-consumer --topic "
        f"{shlex.quote(topic)} --partition {partition} --offset {offset} --max-messages 1",
        topic=topic,
        partition=partition,
        offset=offset,
        since=since,
    )


def _replaying(facts: Facts) -> Cause | None:
    rows = facts.with_status(Status.REWIND)
    if not rows or facts.worst is not Status.REWIND:
        return None
    row = rows[0]
    before, at = facts.onset.marks[[Began.REWOUND_FROM, Began.REWOUND_AT], row].tolist()
    offsets = facts.windows.column(Column.OFFSET)[row, -2:]
    if before == UNKNOWN or offsets[0] == offsets[1]:
        return None  # it went back, and does not read
    topic, partition = facts.layout.name(row)
    again = before - int(offsets[1])
    return cause(
        "replaying",
        f"{_listed(facts, rows)} went back from offset {grouped(before)} "
        f"{duration(facts.now_ms - at)} ago and read again what had been read: "
        f"{records(again)} until there",
        "were offsets reset on purpose? Else look for a consumer that seeks back, or that commits "
        "older offsets after newer ones",
        topic=topic,
        partition=partition,
        offset=int(offsets[1]),
        since=at,
        partitions=len(rows),
    )


def _flapping(facts: Facts) -> Cause | None:
    times = [at for at in facts.openings if facts.now_ms - at <= OPENINGS_MS]
    if len(times) < OPENINGS:
        return None
    return cause(
        "flapping",
        f"not OK for the {_ordinal(len(times))} time within {duration(OPENINGS_MS)}: it recovers "
        "by itself each time",
        "what happens when it begins? Restarts, pauses and bursts of the producers are likely",
        times=len(times),
        within_ms=OPENINGS_MS,
    )


def _unknown(facts: Facts) -> Cause:
    group = facts.membership
    seen = ""
    if group is not None and group.members:
        count = len(group.members)
        seen = f"; {count} {'member is' if count == 1 else 'members are'} in the group"
    what = f"{_listed(facts, facts.bad)} {'is' if len(facts.bad) == 1 else 'are'} not OK"
    late_ms = facts.late_ms
    late = f"; {duration(late_ms)} late" if late_ms else ""
    return cause(
        "unknown", f"nothing speaks clearly for one cause: {what}{seen}{late}", freshness_ms=late_ms
    )


_IN_ORDER: Sequence[Finding] = (
    _beyond_log_end,
    _no_members,
    _rebalance_loop,
    _hanging_transaction,
    _records_lost,
    _unowned,
    _one_member,
    _one_broker,
    _stuck_record,
    _replaying,
    pace_cause,
    _flapping,
)


def _listed(facts: Facts, rows: list[int]) -> str:
    if len(rows) == 1:
        return facts.name(rows[0])
    return f"{facts.name(rows[0])} and {grouped(len(rows) - 1)} more"


def _has(rows: list[int]) -> str:
    return "has" if len(rows) == 1 else "have"


def _is(rows: list[int]) -> str:
    return "is" if len(rows) == 1 else "are"


def _belong(rows: list[int]) -> str:
    return "belongs" if len(rows) == 1 else "belong"


def _ordinal(number: int) -> str:
    return f"{number}{'rd' if number == 3 else 'th'}"
