"""Cause: the group reads again what it had read."""

from __future__ import annotations

from warren.contracts.status import Status
from warren.words import duration, grouped, records

from warren_core.evaluation import UNKNOWN, Began, Column
from warren_core.judgement.causes.catalogue import Found, cause, found, listed
from warren_core.judgement.facts import Facts


@cause("root", 100, "Reads again what it had read", "offsets went back, and commits move")
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
        f"{listed(facts, rows)} went back from offset {grouped(before)} "
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
