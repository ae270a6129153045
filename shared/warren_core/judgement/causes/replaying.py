"""Cause: the group reads again what it had read."""

from warren.contracts.status import Status
from warren.words import duration, grouped, records

from warren_core.evaluation import Began, Column
from warren_core.judgement.causes.catalogue import Found, cause, found, listed
from warren_core.judgement.facts import Facts


@cause("root", 100, "Offset went back, re-reading", "offsets went back, and commits move")
def replaying(facts: Facts) -> Found | None:
    rewound, rewound_at = facts.onset.marks[[Began.REWOUND_FROM, Began.REWOUND_AT]]
    rows = [row for row in facts.bad if rewound[row] >= 0]
    is_all = len(rows) == len(facts.bad)
    if not rows or not (is_all or facts.worst in (Status.REWIND, Status.WARN)):
        return None
    row = rows[0]
    offsets = facts.windows.column(Column.OFFSET)
    committed_at = facts.windows.newest(Column.COMMITTED_AT)
    # One partition may be read after the other.
    if not ((offsets[:, -2] != offsets[:, -1]) & (committed_at > rewound_at[row])).any():
        return None  # it went back, and does not read
    again = sum(int(rewound[each]) - int(offsets[each, -1]) for each in rows)
    at = int(rewound_at[row])
    topic, partition = facts.layout.name(row)
    return found(
        f"Offset went back {duration(facts.now_ms - at)} ago from {grouped(int(rewound[row]))} on "
        f"{listed(facts, rows)}; {records(again)} still to be re-read",
        "If nobody reset offsets, look for seek() or out-of-order commits",
        topic=topic,
        partition=partition,
        offset=int(offsets[row, -1]),
        since=at,
        partitions=len(rows),
    )
