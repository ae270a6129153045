"""What is wrong with a group, thing by thing, each said once, with the moment of which it is.

A condition of its incident has a cause, with what follows from it, or objectives whose limits are
not kept, or only an explanation: each is a problem. Pure.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from warren.contracts import (
    Breach,
    Condition,
    Finding,
    FreshnessEvent,
    LagEvent,
    PartitionStatusName,
    StatusChange,
)
from warren.reason_words import BREACHES, in_short
from warren.words import (
    LOST_RECORDS,
    NEAR_LOSS,
    after_loss,
    as_of,
    before_loss,
    clock,
    is_web_link,
    loss_step,
)

from warren_core.group_incident import LOST_CAUSE
from warren_core.standing.figures import deleted_of, loses_in

Kind = Literal["cause", "consequence", "objective", "explanation"]
LOSS = frozenset((LOST_CAUSE, LOST_RECORDS))
"""One fact, as a cause and as a limit."""
# Of partitions, gravest first.
_PARTITIONS: dict[PartitionStatusName, str] = {
    "BEYOND_END": "Beyond the log end",
    "STOP": "Stopped",
    "STALL": "Stuck",
    "REWIND": "Went back",
    "WARN": "Falling behind",
}


_LABELS: dict[Kind, str] = {
    "cause": "Cause",
    "consequence": "Also",
    "objective": "Objective",
    "explanation": "Explanation",
}


class Problem(NamedTuple):
    """`name`: of the cause, the limit, or the reason. `sentence`: empty where nobody said one.
    `at`: as of when it is, Unix milliseconds. `short`: the same in a few words; `action`: what to
    do, empty where nobody can say. `objective`: whose limit it is; else empty.
    """

    kind: Kind
    name: str
    sentence: str
    at: int
    short: str
    action: str = ""
    objective: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether it says that records were deleted unread."""
        return self.name in LOSS

    @property
    def label(self) -> str:
        """What the sentence is, in a word or two."""
        return _LABELS[self.kind]

    def said(self, now: int, old_ms: int) -> str:
        """The sentence, with its time where that is long ago."""
        said = as_of(self.sentence, self.at, now) if now - self.at >= old_ms else self.sentence
        return f"{self.objective}: {said}" if self.objective else said


def problems_of(conditions: Iterable[Condition], seen: Iterable[Problem] = ()) -> list[Problem]:
    """Of a group's conditions, the root first: each fact once, by what says it best. `seen`: what
    was measured, where no condition says it.
    """
    found = [each for one in conditions for each in problems_in(one.change, one.changed_at)]
    if not any(each.name in (*LOSS, NEAR_LOSS) for each in found):
        found += seen
    names = {each.name for each in found}
    roots = {each.name for each in found if each.kind == "cause"}
    needless: set[str] = set()
    if LOST_CAUSE in roots:
        needless.add(LOST_RECORDS)
    elif LOST_RECORDS in names:  # it has the newest figure
        needless.add(LOST_CAUSE)
    if names & LOSS:
        needless.add(NEAR_LOSS)  # it has come to pass
    once: dict[tuple[str, str], Problem] = {}
    for each in found:
        if each.name not in needless:
            once.setdefault((each.objective, each.sentence or each.short), each)
    return list(once.values())


def problems_in(change: StatusChange, at: int) -> Iterator[Problem]:
    """Of one condition, as it was then, Unix milliseconds."""
    cause = change.cause
    if cause is not None and cause.is_known:
        yield _found("cause", cause, at)
        for each in cause.also:
            yield _found("consequence", each, at)
    for breach in change.objectives or ():
        yield _broken(breach, at)
    if not change.objectives and (cause is None or not cause.is_known):
        short = unclear(change) if change.objectives is None else "Objectives not kept"
        said, action = change.explanation or "", cause.action if cause is not None else None
        yield Problem("explanation", change.reason or "", said, at, short, action or "")


def _broken(breach: Breach, at: int) -> Problem:
    step = breach.runbook if breach.runbook and not is_web_link(breach.runbook) else ""
    return Problem(
        "objective",
        breach.limit,
        breach.sentence,
        at if breach.said_at is None else breach.said_at,
        BREACHES.get(breach.limit) or f"{breach.limit} not kept",
        step or loss_step([breach]),
        breach.objective,
    )


def measured(lag: LagEvent, freshness: FreshnessEvent) -> Iterator[Problem]:
    """A loss that was measured: it may come before a status change says so."""
    at = freshness.measured_at
    if freshness.lost_records:
        said, step = deleted_of(freshness), after_loss()
        yield Problem("consequence", LOST_CAUSE, said, at, BREACHES[LOST_RECORDS], step)
    elif (left := loses_in(freshness, lag)) is not None:
        said, step = f"unread records may be deleted from {clock(at + left, at)} on", before_loss()
        yield Problem("consequence", NEAR_LOSS, said, at, BREACHES[NEAR_LOSS], step)


def _found(kind: Kind, found: Finding, at: int) -> Problem:
    short = found.short or found.name.replace("_", " ").capitalize()
    short = BREACHES[LOST_RECORDS] if found.name in LOSS else short
    return Problem(kind, found.name, found.sentence, at, short, found.action or "")


def unclear(change: StatusChange) -> str:
    """What nothing speaks clearly for a cause of, in a few words."""
    if change.reason:
        return in_short(change.reason)
    counts = change.partition_counts
    return next((words for status, words in _PARTITIONS.items() if counts.get(status)), "Not OK")
