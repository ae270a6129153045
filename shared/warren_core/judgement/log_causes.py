"""Causes in the log: where it ends, who leads it, what retention took, what holds readers up."""

from __future__ import annotations

import numpy as np
from warren.contracts.cause import Finding
from warren.contracts.status import Status
from warren.loss_words import after_loss, deleted
from warren.words import duration, grouped, shell_word

from warren_core.evaluation import UNKNOWN, Column
from warren_core.judgement.cause_words import BOOTSTRAP, finding, has, listed
from warren_core.judgement.facts import Facts
from warren_core.judgement.log_columns import LogColumn
from warren_core.judgement.state import Latest

# A producer's transaction.timeout.ms is a minute unless it is set; then its coordinator ends it.
OPEN_FOR_LONG_MS = 90_000
LEAST_LED, MOST_OF = 3, 0.75
_MARKER = 1  # record that a consumer may not count: the end of the transaction before


def beyond_log_end(facts: Facts) -> Finding | None:
    rows = facts.with_status(Status.BEYOND_END)
    if not rows:
        return None
    row = rows[0]
    topic, partition = facts.layout.name(row)
    offset = int(facts.windows.newest(Column.OFFSET)[row])
    log_end = int(facts.windows.log_ends[row, -1])
    return finding(
        "beyond_log_end",
        f"{listed(facts, rows)} {has(rows)} a committed offset that the log does not have: "
        f"{grouped(offset)}, and it ends at {grouped(log_end)}",
        "was the topic made anew, or a log cut short? Then end its consumers and set the offset, "
        f"--to-earliest or --to-latest: kafka-consumer-groups {BOOTSTRAP} "
        f"--group={shell_word(facts.group)} --topic {shell_word(topic)}:{partition} "
        "--reset-offsets --to-earliest --execute",
        topic=topic,
        partition=partition,
        offset=offset,
        log_end=log_end,
        partitions=len(rows),
    )


def hanging_transaction(facts: Facts) -> Finding | None:
    """All that stands has come to transactions that nobody ends."""
    rows = facts.standing()
    if not rows or len(rows) < len(facts.bad):
        return None
    at = {(h.topic, h.partition): h for h in facts.lateness.held_up} if facts.lateness else {}
    found = [at.get(name) for name in facts.names(rows)]
    known = [held for held in found if held is not None and held.since is not None]
    if len(known) < len(rows):
        return _before_last_stable(facts, rows)
    oldest = min(known, key=lambda held: held.since or 0)
    assert oldest.since is not None
    if facts.now_ms - oldest.since < OPEN_FOR_LONG_MS:
        return None
    whose = f" (transactional id {oldest.transactional_id})" if oldest.transactional_id else ""
    return finding(
        "hanging_transaction",
        f"{listed(facts, rows)} {has(rows)} come to a transaction that has been open for "
        f"{duration(facts.now_ms - oldest.since)}{whose}: who reads committed records waits for "
        "its end",
        _to_abort(oldest.topic, oldest.partition, oldest.first_offset),
        topic=oldest.topic,
        partition=oldest.partition,
        offset=oldest.first_offset,
        since=oldest.since,
        partitions=len(rows),
        transactional_id=oldest.transactional_id,
        producer_id=oldest.producer_id,
    )


def _before_last_stable(facts: Facts, rows: list[int]) -> Finding | None:
    """Without freshness nobody knows since when, nor whose: the group must have stood for long."""
    stable = facts.logs[LogColumn.LAST_STABLE, rows]
    left = stable - facts.latest[Latest.COMMITTED, rows]
    here = (stable >= 0) & (left >= 0) & (left <= _MARKER)
    if not here.all() or facts.now_ms - facts.stands_since(rows) < OPEN_FOR_LONG_MS:
        return None
    topic, partition = facts.layout.name(rows[0])
    return finding(
        "hanging_transaction",
        f"{listed(facts, rows)} {has(rows)} come to an open transaction, at offset "
        f"{grouped(int(stable[0]))}: who reads committed records waits for its end",
        _to_abort(topic, partition, int(stable[0])),
        topic=topic,
        partition=partition,
        offset=int(stable[0]),
        partitions=len(rows),
    )


def _to_abort(topic: str, partition: int, first_offset: int) -> str:
    return (
        f"find its producer, or end it: kafka-transactions {BOOTSTRAP} abort --topic "
        f"{shell_word(topic)} --partition {partition} --start-offset {first_offset}"
    )


def records_lost(facts: Facts) -> Finding | None:
    lost = facts.lost()
    if not lost.any():
        return None
    worst = int(lost.argmax())
    topic, partition = facts.layout.name(worst)
    some = int(np.count_nonzero(lost))
    return finding(
        "records_lost",
        deleted(int(lost.sum()), facts.name(worst), some),
        after_loss(topic),
        topic=topic,
        partition=partition,
        offset=facts.committed(worst),
        lost_records=int(lost.sum()),
        partitions=some,
    )


def one_broker(facts: Facts) -> Finding | None:
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
    return finding(
        "one_broker",
        f"{listed(facts, rows)} {_is(rows)} led by broker {broker}; those led by others are well",
        f"look at broker {broker}: its disks, its network, its request queue",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        broker=broker,
        members=len(group.members),
    )


def _is(rows: list[int]) -> str:
    return "is" if len(rows) == 1 else "are"
