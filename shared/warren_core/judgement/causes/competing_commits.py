"""Cause: somebody else commits other offsets in turn."""

import numpy as np
from warren.contracts.status import Status
from warren.words import grouped

from warren_core.evaluation import Column
from warren_core.judgement.causes.catalogue import Found, cause, found, listed
from warren_core.judgement.facts import Facts


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
    row, older = in_turn[0]
    topic, partition = facts.layout.name(row)
    newest = int(facts.windows.column(Column.OFFSET)[row].max())
    return found(
        f"Offsets {grouped(older)} and {grouped(newest)} are committed in turn on "
        f"{listed(facts, [row for row, _ in in_turn])}; a restart reads from the last one",
        "Look for two committers: a member that still commits partitions it has lost, or another "
        "application with this group id",
        topic=topic,
        partition=partition,
        offset=older,
        partitions=len(in_turn),
    )


def _in_turn(facts: Facts, row: int) -> int | None:
    """The offset that it went back to the last time; None where it did not come forth before."""
    windows = facts.windows
    offsets = windows.column(Column.OFFSET)[row][windows.occupied[row]]
    back = np.flatnonzero(np.diff(offsets) < 0)
    if len(back) < 2 or offsets[back[0] + 1 : back[-1] + 1].max() < offsets[back[0]]:
        return None
    return int(offsets[back[-1] + 1])
