"""Cause: the group reads again what it had read."""

from __future__ import annotations

from warren.contracts.status import Status
from warren.words import duration, grouped, records

from warren_core.evaluation import UNKNOWN, Began, Column
from warren_core.judgement.causes.catalogue import Found, cause, found, listed
from warren_core.judgement.facts import Facts


@cause("root", 100, "Offset went back, re-reading", "offsets went back, and commits move")
def replaying(facts: Facts) -> Found | None:
    rewound = facts.onset.marks[Began.REWOUND_FROM]
    rows = [row for row in facts.with_status(Status.REWIND, Status.WARN) if rewound[row] >= 0]
    if not rows or facts.worst not in (Status.REWIND, Status.WARN):
        return None
    row = rows[0]
    before, at = facts.onset.marks[[Began.REWOUND_FROM, Began.REWOUND_AT], row].tolist()
    offsets = facts.windows.column(Column.OFFSET)[row, -2:]
    is_reset = facts.windows.newest(Column.COMMITTED_AT)[row] <= at
    if before == UNKNOWN or is_reset or offsets[0] == offsets[1]:
        return None  # it went back, and does not read
    topic, partition = facts.layout.name(row)
    again = before - int(offsets[1])
    return found(
        f"Offset went back {duration(facts.now_ms - at)} ago from {grouped(before)} on "
        f"{listed(facts, rows)}; {records(again)} still to be re-read",
        "If nobody reset offsets, look for seek() or out-of-order commits",
        topic=topic,
        partition=partition,
        offset=int(offsets[1]),
        since=at,
        partitions=len(rows),
    )
