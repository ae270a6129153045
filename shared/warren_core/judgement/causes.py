"""Causes: the first root that the facts speak clearly for, then what follows from it.

A root is what somebody has to mend first. A consequence needs a root, known or not: it is told
second where one is known, and first where none is. `unknown` where the facts speak for nothing.

A wrong cause sends people the wrong way, so each asks for evidence that others do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from warren.contracts.cause import Cause, Finding
from warren.contracts.status import Status
from warren.words import duration, grouped, records, shell_word

from warren_core.evaluation import UNKNOWN, Began, Column
from warren_core.evaluation.presence import Presence
from warren_core.judgement.cause_words import BOOTSTRAP, finding, listed
from warren_core.judgement.facts import Facts
from warren_core.judgement.log_causes import (
    beyond_log_end,
    hanging_transaction,
    one_broker,
    records_lost,
)
from warren_core.judgement.member_causes import (
    no_members,
    one_member,
    rebalance_loop,
    unowned_partitions,
)
from warren_core.judgement.paces import falls_behind, stays_behind

OPENINGS, OPENINGS_MS = 3, 30 * 60_000

Find = Callable[[Facts], Finding | None]


def find_cause(facts: Facts) -> Cause:
    """Say what is wrong with a group that is not OK, the root first."""
    root = next(_found(_ROOTS, facts), None)
    consequences = _found(_CONSEQUENCES, facts)
    first = root or next(consequences, None) or _unknown(facts)
    return Cause(
        name=first.name,
        sentence=first.sentence,
        action=first.action,
        evidence=first.evidence,
        also=list(consequences),
    )


def _found(finds: Iterable[Find], facts: Facts) -> Iterator[Finding]:
    return (found for find in finds if (found := find(facts)) is not None)


def _stuck_record(facts: Facts) -> Finding | None:
    """Two records behind at least: of one, the last may be a transaction's end."""
    rows = facts.standing()
    if len(rows) != 1 or facts.worst is not Status.STALL or facts.lag[rows[0]] < 2:
        return None
    row = rows[0]
    topic, partition = facts.layout.name(row)
    offset = int(facts.windows.newest(Column.OFFSET)[row])
    since = facts.stands_since(rows)
    look = (
        f"look at it: kafka-console-consumer {BOOTSTRAP} --topic "
        f"{shell_word(topic)} --partition {partition} --offset {offset} --max-messages 1"
    )
    what = "there is a record that the group cannot get past, or a member has paused the partition"
    if facts.lost()[row]:
        what = "the group did not get past the record there, which retention has deleted by now"
        look = (
            "restart the consumer: it then goes on where auto.offset.reset says (earliest: at the "
            "oldest record that is left)"
        )
    return finding(
        "stuck_record",
        f"{facts.name(row)} has stood at offset {grouped(offset)} for "
        f"{duration(facts.now_ms - since)} while commits go on: {what}",
        look,
        topic=topic,
        partition=partition,
        offset=offset,
        since=since,
    )


def _competing_commits(facts: Facts) -> Finding | None:
    """Offsets go back, come forth and go back again: no reset does that, and no replay."""
    found = [
        (row, older)
        for row in facts.with_status(Status.REWIND)
        if (older := _in_turn(facts, row)) is not None
    ]
    if not found:
        return None
    row, older = found[0]
    topic, partition = facts.layout.name(row)
    newest = int(facts.windows.column(Column.OFFSET)[row].max())
    return finding(
        "competing_commits",
        f"{listed(facts, [row for row, _ in found])}: offsets that lie apart are committed in "
        f"turn, {grouped(older)} after a newer one, and {grouped(newest)}: a restart reads from "
        "whichever came last",
        "look for two that commit: a member that keeps offsets of partitions which it has lost, or "
        "another application with this group id",
        topic=topic,
        partition=partition,
        offset=older,
        partitions=len(found),
    )


def _in_turn(facts: Facts, row: int) -> int | None:
    """The offset that it went back to the last time; None where it did not come forth before."""
    windows = facts.windows
    offsets = windows.column(Column.OFFSET)[row][windows.occupied[row]]
    back = np.flatnonzero(np.diff(offsets) < 0)
    if len(back) < 2 or offsets[back[0] + 1 : back[-1] + 1].max() < offsets[back[0]]:
        return None
    return int(offsets[back[-1] + 1])


def _replaying(facts: Facts) -> Finding | None:
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
    return finding(
        "replaying",
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


def _flapping(facts: Facts) -> Finding | None:
    times = [at for at in facts.openings if facts.now_ms - at <= OPENINGS_MS]
    if len(times) < OPENINGS:
        return None
    return finding(
        "flapping",
        f"not OK for the {_ordinal(len(times))} time within {duration(OPENINGS_MS)}: it recovers "
        "by itself each time",
        "what happens when it begins? Restarts, pauses and bursts of the producers are likely",
        times=len(times),
        within_ms=OPENINGS_MS,
    )


def _unknown(facts: Facts) -> Finding:
    group = facts.membership
    seen = ""
    if facts.presence is Presence.NOBODY:
        seen = "; the group has no members any more" if group and group.members else ""
    elif group is not None and group.members:
        count = len(group.members)
        seen = f"; {count} {'member is' if count == 1 else 'members are'} in the group"
    elif group is not None and not group.managed:
        seen = "; the group has no members: who reads assigns partitions to itself, or nobody does"
    what = f"{listed(facts, facts.bad)} {'is' if len(facts.bad) == 1 else 'are'} not OK"
    late_ms = facts.late_ms
    late = f"; {duration(late_ms)} late" if late_ms else ""
    return finding(
        "unknown", f"nothing speaks clearly for one cause: {what}{seen}{late}", freshness_ms=late_ms
    )


_ROOTS: Sequence[Find] = (
    beyond_log_end,
    no_members,
    rebalance_loop,
    hanging_transaction,
    unowned_partitions,
    one_member,
    one_broker,
    _stuck_record,
    _competing_commits,
    _replaying,
    falls_behind,
)
"""What others may look like comes later: only the first is told."""
_CONSEQUENCES: Sequence[Find] = (records_lost, stays_behind, _flapping)
"""The gravest first: all that are found are told."""


def _ordinal(number: int) -> str:
    return f"{number}{'rd' if number == 3 else 'th'}"
