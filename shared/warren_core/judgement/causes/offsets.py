"""Causes that the offsets tell: where a group stands, and what is left of the log there."""

import numpy as np
from warren.contracts.status import Status
from warren.words import after_loss, deleted, duration, grouped, records, shell_word

from warren_core.evaluation import Began, Column, Mark
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


@cause("root", 10, "Committed offset beyond the log end", "a partition is BEYOND_END")
def beyond_log_end(facts: Facts) -> Found | None:
    rows = facts.with_status(Status.BEYOND_END)
    if not rows:
        return None
    row = rows[0]
    topic, partition = facts.state.layout.name(row)
    offset = int(facts.state.windows.newest(Column.OFFSET)[row])
    log_end = int(facts.state.windows.log_ends[row, -1])
    return found_at(
        facts,
        rows,
        f"Committed offset {grouped(offset)} is beyond the log end {grouped(log_end)} "
        f"({listed(facts, rows)})",
        "If the topic was recreated or its log truncated, stop the consumers and reset the offset, "
        f"--to-earliest or --to-latest: kafka-consumer-groups {BOOTSTRAP} "
        f"--group={shell_word(facts.group)} --topic {shell_word(topic)}:{partition} "
        "--reset-offsets --to-earliest --execute",
        offset=offset,
        log_end=log_end,
    )


OPEN_FOR_LONG_MS = 90_000
"""A producer's transaction.timeout.ms is a minute unless it is set; then its coordinator ends it.
"""
_MARKER = 1  # record that a consumer may not count: the end of the transaction before


@cause(
    "root",
    40,
    "Waits for an open transaction",
    "all that stands still has come to transactions that have been open for "
    f"{OPEN_FOR_LONG_MS // 1000} s, as freshness saw, or has stood for as long where the last "
    "stable offset is (`last_stable`), also without freshness. Consumers that read committed "
    "records wait for their end",
)
def hanging_transaction(facts: Facts) -> Found | None:
    """All that stands has come to transactions that nobody ends."""
    rows = facts.standing()
    if not rows or len(rows) < len(facts.bad):
        return None
    at = {(h.topic, h.partition): h for h in facts.lateness.held_up} if facts.lateness else {}
    known = [at[name] for name in facts.names(rows) if name in at and at[name].since is not None]
    wait = f"{listed(facts, rows)} {'waits' if len(rows) == 1 else 'wait'} for"
    if len(known) < len(rows):
        # Without freshness nobody knows since when, nor whose: the group must have stood for long.
        stable = facts.reported[Reported.LAST_STABLE, rows]
        left = stable - facts.state.latest[Latest.COMMITTED, rows]
        here = (stable >= 0) & (left >= 0) & (left <= _MARKER)
        if facts.state.track is not None:  # aborted records, too, may be in between
            here |= (stable >= 0) & (facts.state.track.marks[Mark.OPEN_SINCE, rows] >= 0)
        if not here.all() or facts.now_ms - facts.stands_since(rows) < OPEN_FOR_LONG_MS:
            return None
        topic, partition = facts.state.layout.name(rows[0])
        return found_at(
            facts,
            rows,
            f"{wait} an open transaction, at offset {grouped(int(stable[0]))}",
            _to_abort(topic, partition, int(stable[0])),
            offset=int(stable[0]),
        )
    oldest = min(known, key=lambda held: held.since or 0)
    assert oldest.since is not None
    if facts.now_ms - oldest.since < OPEN_FOR_LONG_MS:
        return None
    whose = f" (transactional id {oldest.transactional_id})" if oldest.transactional_id else ""
    return found(
        f"{wait} a transaction that has been open for {duration(facts.now_ms - oldest.since)}"
        f"{whose}",
        _to_abort(oldest.topic, oldest.partition, oldest.first_offset),
        topic=oldest.topic,
        partition=oldest.partition,
        offset=oldest.first_offset,
        since=oldest.since,
        partitions=len(rows),
        transactional_id=oldest.transactional_id,
        producer_id=oldest.producer_id,
    )


def _to_abort(topic: str, partition: int, first_offset: int) -> str:
    return (
        f"Check its producer, or abort it: kafka-transactions {BOOTSTRAP} abort --topic "
        f"{shell_word(topic)} --partition {partition} --start-offset {first_offset}"
    )


@cause(
    "root",
    55,
    "Never committed",
    "nobody has ever committed all that stands still, though records came after it was first seen; "
    "not where a group with members has no owner for it",
)
def never_committed(facts: Facts) -> Found | None:
    rows = facts.bad
    if not rows or (facts.state.latest[Latest.COMMITTED, rows] >= 0).any():
        return None
    since = facts.stands_since(rows)
    group = facts.membership
    number = None if group is None else group.owners.get(facts.state.layout.name(rows[0]))
    who, client_id, host = "no known owner", None, None
    look = (
        "Check whether anybody reads it: a consumer that assigns partitions to itself (assign) "
        "does not see those that are added"
    )
    if group is not None and number is not None:
        client_id, host, _ = group.members[number]
        who = f"owner {client_id} at {address(host)}"
        look = (
            f"Check the log of {client_id}: does it fail at its first record, or never commit? "
            "Where a group keeps its offsets elsewhere, ignore it in [[evaluation.overrides]]"
        )
    return found_at(
        facts,
        rows,
        f"Never committed: {listed(facts, rows)}; at least "
        f"{records(int(facts.lag[rows].sum()))} came in {duration(facts.now_ms - since)}; {who}",
        look,
        since=since,
        client_id=client_id,
        host=host,
    )


@cause(
    "root",
    80,
    "Stuck at one record",
    "one partition alone, or at most half of the group's, stand still at their offsets while "
    "commits go on, two records behind at least",
)
def stuck_record(facts: Facts) -> Found | None:
    """Two records behind at least: of one, the last may be a transaction's end."""
    rows = facts.standing()
    is_few = len(rows) == 1 or 0 < 2 * len(rows) <= len(facts.state.layout)
    if not is_few or facts.worst is not Status.STALL or (facts.lag[rows] < 2).any():
        return None
    row = rows[0]
    topic, partition = facts.state.layout.name(row)
    offset = int(facts.state.windows.newest(Column.OFFSET)[row])
    since = facts.stands_since([row])
    look = (
        f"Inspect the record: kafka-console-consumer {BOOTSTRAP} --topic "
        f"{shell_word(topic)} --partition {partition} --offset {offset} --max-messages 1"
    )
    what = "a poison record, or a paused partition"
    if facts.lost[row]:
        what = "retention has deleted the record meanwhile"
        look = (
            "Restart the consumer: it continues where auto.offset.reset says (earliest: at the "
            "oldest record left)"
        )
    return found(
        f"Stuck at offset {grouped(offset)} of {listed(facts, rows)} for "
        f"{duration(facts.now_ms - since)} while commits go on: {what}",
        look,
        topic=topic,
        partition=partition,
        offset=offset,
        since=since,
        **({"partitions": len(rows)} if len(rows) > 1 else {}),
    )


@cause(
    "root",
    90,
    "Two commit offsets in turn",
    "a partition is in REWIND, and in its window an offset went back, came forth again and went "
    "back once more",
)
def competing_commits(facts: Facts) -> Found | None:
    """Offsets go back, come forth and go back again: no reset does that, and no replay."""
    in_turn = [
        (row, older)
        for row in facts.with_status(Status.REWIND)
        if (older := _in_turn(facts, row)) is not None
    ]
    if not in_turn:
        return None
    rows, older = [row for row, _ in in_turn], in_turn[0][1]
    newest = int(facts.state.windows.column(Column.OFFSET)[rows[0]].max())
    return found_at(
        facts,
        rows,
        f"Offsets {grouped(older)} and {grouped(newest)} are committed in turn on "
        f"{listed(facts, rows)}; a restart reads from the last one",
        "Look for two committers: a member that still commits partitions it has lost, or another "
        "application with this group id",
        offset=older,
    )


def _in_turn(facts: Facts, row: int) -> int | None:
    """The offset that it went back to the last time; None where it did not come forth before."""
    windows = facts.state.windows
    offsets = windows.column(Column.OFFSET)[row][windows.occupied[row]]
    back = np.flatnonzero(np.diff(offsets) < 0)
    if len(back) < 2 or offsets[back[0] + 1 : back[-1] + 1].max() < offsets[back[0]]:
        return None
    return int(offsets[back[-1] + 1])


@cause("root", 100, "Offset went back, re-reading", "offsets went back, and commits move")
def replaying(facts: Facts) -> Found | None:
    rewound, rewound_at = facts.onset.marks[[Began.REWOUND_FROM, Began.REWOUND_AT]]
    rows = [row for row in facts.bad if rewound[row] >= 0]
    is_all = len(rows) == len(facts.bad)
    if not rows or not (is_all or facts.worst in (Status.REWIND, Status.WARN)):
        return None
    row = rows[0]
    offsets = facts.state.windows.column(Column.OFFSET)
    committed_at = facts.state.windows.newest(Column.COMMITTED_AT)
    # One partition may be read after the other.
    if not ((offsets[:, -2] != offsets[:, -1]) & (committed_at > rewound_at[row])).any():
        return None  # it went back, and does not read
    again = sum(int(rewound[each]) - int(offsets[each, -1]) for each in rows)
    at = int(rewound_at[row])
    return found_at(
        facts,
        rows,
        f"Offset went back {duration(facts.now_ms - at)} ago from {grouped(int(rewound[row]))} on "
        f"{listed(facts, rows)}; {records(again)} still to be re-read",
        "If nobody reset offsets, look for seek() or out-of-order commits",
        offset=int(offsets[row, -1]),
        since=at,
    )


@cause(
    "consequence",
    10,
    "Unread records deleted",
    "the log begins above a committed offset",
)
def records_lost(facts: Facts) -> Found | None:
    lost = facts.lost
    if not lost.any():
        return None
    worst = int(lost.argmax())
    topic, partition = facts.state.layout.name(worst)
    some = int(np.count_nonzero(lost))
    rows = () if facts.lateness is None else facts.lateness.worst_first
    undated = (topic, partition, "bad_timestamp") in {(*row[:2], row.reason) for row in rows}
    return found(
        deleted(int(lost.sum()), facts.state.layout.label(worst), some),
        after_loss(topic, undated=undated),
        topic=topic,
        partition=partition,
        offset=int(facts.state.latest[Latest.COMMITTED, worst]),
        lost_records=int(lost.sum()),
        partitions=some,
    )
