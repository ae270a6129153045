"""Cause: a transaction is open, and who reads committed records waits for its end."""

from warren.words import duration, grouped, shell_word

from warren_core.evaluation.track import Mark
from warren_core.judgement.causes.catalogue import BOOTSTRAP, Found, cause, found, listed
from warren_core.judgement.columns import Latest, Told
from warren_core.judgement.facts import Facts

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
    held_up = [at.get(name) for name in facts.names(rows)]
    known = [held for held in held_up if held is not None and held.since is not None]
    if len(known) < len(rows):
        # Without freshness nobody knows since when, nor whose: the group must have stood for long.
        stable = facts.told[Told.LAST_STABLE, rows]
        left = stable - facts.latest[Latest.COMMITTED, rows]
        here = (stable >= 0) & (left >= 0) & (left <= _MARKER)
        if facts.track is not None:  # aborted records, too, may be in between
            here |= (stable >= 0) & (facts.track.marks[Mark.OPEN_SINCE, rows] >= 0)
        if not here.all() or facts.now_ms - facts.stands_since(rows) < OPEN_FOR_LONG_MS:
            return None
        topic, partition = facts.layout.name(rows[0])
        return found(
            f"{listed(facts, rows)} {_wait(rows)} for an open transaction, at offset "
            f"{grouped(int(stable[0]))}",
            _to_abort(topic, partition, int(stable[0])),
            topic=topic,
            partition=partition,
            offset=int(stable[0]),
            partitions=len(rows),
        )
    oldest = min(known, key=lambda held: held.since or 0)
    assert oldest.since is not None
    if facts.now_ms - oldest.since < OPEN_FOR_LONG_MS:
        return None
    whose = f" (transactional id {oldest.transactional_id})" if oldest.transactional_id else ""
    return found(
        f"{listed(facts, rows)} {_wait(rows)} for a transaction that has been open for "
        f"{duration(facts.now_ms - oldest.since)}{whose}",
        _to_abort(oldest.topic, oldest.partition, oldest.first_offset),
        topic=oldest.topic,
        partition=oldest.partition,
        offset=oldest.first_offset,
        since=oldest.since,
        partitions=len(rows),
        transactional_id=oldest.transactional_id,
        producer_id=oldest.producer_id,
    )


def _wait(rows: list[int]) -> str:
    return "waits" if len(rows) == 1 else "wait"


def _to_abort(topic: str, partition: int, first_offset: int) -> str:
    return (
        f"Check its producer, or abort it: kafka-transactions {BOOTSTRAP} abort --topic "
        f"{shell_word(topic)} --partition {partition} --start-offset {first_offset}"
    )
