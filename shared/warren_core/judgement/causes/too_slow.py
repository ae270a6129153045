"""Cause: less is consumed than is produced."""

from __future__ import annotations

from warren.words import grouped, rate

from warren_core.judgement.causes.catalogue import Found, cause, found_at_pace, times
from warren_core.judgement.facts import Facts


@cause(
    "root",
    120,
    "Reads slower than is written",
    "all that is bad falls behind, and a tenth more is produced than consumed",
)
def too_slow(facts: Facts) -> Found | None:
    pace = facts.pace
    if pace is None or not pace.falls_behind:
        return None
    members = 0 if facts.membership is None else len(facts.membership.members)
    more = "add consumers, or let each record take less time"
    if members and members >= len(facts.layout):
        more = (
            f"there are as many members as partitions ({grouped(len(facts.layout))}): let each "
            "record take less time, or add partitions and consumers"
        )
    return found_at_pace(
        f"consumes {rate(pace.consumed)} of {rate(pace.produced)} produced: needs "
        f"{times(pace.produced / pace.consumed)} as much",
        more,
        pace,
        members=members or None,
    )
