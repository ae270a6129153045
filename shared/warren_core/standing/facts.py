"""How a group stands as names and values, each fact once: what every medium prints. A fact that is
added here is seen everywhere. Pure.

What may be otherwise by now carries its time: a mail is not rendered anew, so it names times and no
ages; pages and terminals print the same.
"""

from collections.abc import Iterator
from typing import NamedTuple

from warren.contracts import LOSS_UNKNOWN, Condition
from warren.words import (
    LOST_RECORDS,
    as_of,
    clock,
    condition as about,
    duration,
    grouped,
    in_sentence,
    records,
    utc,
    visible,
)

from warren_core.group_incident import lost_records
from warren_core.objectives.near_loss import SOON_MS
from warren_core.standing.endings import condition_over, end_of, is_explained, stay_lost
from warren_core.standing.figures import Figure, Figures, said_at
from warren_core.standing.problems import problems_in
from warren_core.standing.standing import Standing, in_few_words

OLD_MS = 10_000
"""From this age on what was seen may be otherwise by now, unless who asks knows better."""


class Fact(NamedTuple):
    """Control characters are visible in the value."""

    name: str
    value: str


DRAWN = frozenset(
    (
        *("Since", "Cause", "Also", "Objective", "Explanation", "What to do", "Then", "Owner"),
        *("Runbook", "Late by", "Data loss", "Lag", "Partitions", "Members", "Handled"),
        *("From", "Until", "Was"),
    )
)
"""Facts for which a page has a place of their own, by name: the others are listed."""


def then(figure: str, seen: int, now: int, old_ms: int = OLD_MS) -> str:
    """`2,140 at 07:00 UTC` where it may be another by now. Unix milliseconds."""
    return f"{figure} at {clock(seen, now)}" if now - seen >= old_ms else figure


def late_in_words(late: Figure, now: int, old_ms: int = OLD_MS) -> str:
    """`5m`; `> 5m`: at least."""
    return then(f"{'> ' if late.is_least else ''}{duration(late.value)}", late.at, now, old_ms)


def lag_figure(lag: Figure) -> str:
    """`2,140`; `≥ 2,140`: at least."""
    return f"{'≥ ' if lag.is_least else ''}{grouped(lag.value)}"


def lag_in_words(lag: Figure, now: int, old_ms: int = OLD_MS, deleted: int = 0) -> str:
    """`2,140 records`; `≥ 2,140 records`: at least; `132 records to read, 5,420 deleted`: Kafka's
    own tools count these, too.
    """
    gone = f" to read, {grouped(deleted)} deleted" if deleted else ""
    return then(f"{'≥ ' if lag.is_least else ''}{records(lag.value)}{gone}", lag.at, now, old_ms)


def loss_in_words(loss: Figure, now: int, old_ms: int = OLD_MS) -> str:
    """`from 08:30 UTC on`: when retention may delete what the group has not consumed, as far as
    that was seen.
    """
    if loss.value <= loss.at:
        return f"under way at {clock(loss.at, now)}" if now - loss.at >= old_ms else "now"
    said = f"from {clock(loss.value, now)} on"
    return f"{said}, as of {clock(loss.at, now)}" if now - loss.at >= old_ms else said


def late_of(of: Figures) -> str:
    """The same as of then; empty: unknown."""
    return late_in_words(of.late, of.late.at) if of.late is not None else ""


def loss_left(of: Figures, now: int) -> str:
    """`lost 3,110`, `22m`, `now`, `unknown`: until records are lost, for who looks at it; empty
    where there is nothing to lose, or that is unknown.
    """
    if of.lost:
        return f"lost {grouped(of.lost)}"
    until = of.loss_at or of.kept_until
    left = None if until is None else until.value - now
    if of.loss_reason in LOSS_UNKNOWN and (left is None or left >= SOON_MS):
        return "unknown"  # of some partition: this is no lower bound
    if left is None:
        return "unknown" if of.loss_reason else ""
    return duration(left) if left > 0 else "now"


def handled(of: Standing, now: int) -> list[str]:
    """`acknowledged by anna`, `silenced until 08:30 UTC`: what people have done about a group."""
    said, until = of.acknowledged, of.silenced_until
    found = [f"acknowledged by {visible(said.by)}"] if said is not None else []
    return found + ([f"silenced until {clock(until, now)}"] if until and until > now else [])


def facts_of(of: Standing, now: int, old_ms: int = OLD_MS) -> list[Fact]:
    """As of `now`, Unix milliseconds. `old_ms`: from this age on what was seen carries its time."""
    found = [*(_of_end(of) if of.has_ended else _of_now(of, now, old_ms)), *_people(of, now)]
    return [Fact(name, visible(value)) for name, value in dict.fromkeys(found)]


def _of_now(of: Standing, now: int, old_ms: int) -> Iterator[tuple[str, str]]:
    if of.opened_at is not None:
        yield "Since", utc(of.opened_at)
    yield from _problems(of, now, old_ms)
    for each in of.kept:
        yield from _kept(each, now)
    for each in of.ended:
        lasted = duration((each.until or each.changed_at) - each.since)
        yield "Over", f"{condition_over(each)} after {lasted}"
    yield from _ownership(of)
    figures = of.figures
    if figures.late is not None:
        yield "Late by", late_in_words(figures.late, now, old_ms)
    if figures.loss_at is not None:
        yield "Data loss", loss_in_words(figures.loss_at, now, old_ms)
    if of.lost > max(lost_records(one.change for one in (*of.open, *of.kept)), figures.lost):
        yield "Lost", records(of.lost)  # more than is said of one
    lag, lost = figures.lag, figures.lost
    yield "Lag", "unknown" if lag is None else lag_in_words(lag, now, old_ms, lost)
    yield from _of_partitions(of, now, old_ms)
    if of.members is not None:
        yield "Members", grouped(of.members)


def _problems(of: Standing, now: int, old_ms: int) -> Iterator[tuple[str, str]]:
    steps = of.steps
    for each in of.problems:
        if each.sentence:
            yield each.label, each.said(now, old_ms)
        if each.action in steps:
            yield "Then" if steps.index(each.action) else "What to do", each.action
    for place, step in enumerate(steps):  # those of nobody's problem
        yield "Then" if place else "What to do", step


def _kept(condition: Condition, now: int) -> Iterator[tuple[str, str]]:
    """What holds no more by now, though its incident is not over."""
    seen = clock(said_at(condition), now)
    for each in problems_in(condition.change, condition.changed_at):
        if each.name == LOST_RECORDS:
            yield "Lost", each.sentence
        elif each.kind == "objective":
            before = as_of(each.sentence, each.at, now)
            yield "Kept again", f"{each.objective} at {seen}; before, {before}"
        elif each.kind != "consequence":
            yield (
                "Well again",
                f"{about(condition.type)} at {seen}; before: {in_sentence(each.short)}",
            )


def _ownership(of: Standing) -> Iterator[tuple[str, str]]:
    for owner in of.owners:
        yield "Owner", owner
    for runbook in of.runbooks:
        if runbook not in of.steps:
            yield "Runbook", runbook
    yield from of.labels


def _of_partitions(of: Standing, now: int, old_ms: int) -> Iterator[tuple[str, str]]:
    """Of the status that follows from commits, where that is not OK."""
    root = next((each for each in of.open if each.change.objectives is None), None)
    if root is None:
        return
    change, seen = root.change, root.changed_at
    if (most := change.max_lag) is not None and most.lag:
        said = f"{most.topic} partition {most.partition}: {records(most.lag)}"
        yield "Largest lag", then(said, seen, now, old_ms)
    counts = sorted(change.partition_counts.items(), key=lambda item: item[0] == "OK")
    if counts:
        said = ", ".join(f"{grouped(n)} {status}" for status, n in counts)
        yield "Partitions", then(said, seen, now, old_ms)


def _of_end(of: Standing) -> Iterator[tuple[str, str]]:
    change, seen = of.change, of.at
    yield "From", utc(change.opened_at)
    yield "Until", f"{utc(seen)} ({duration(seen - change.opened_at)})"
    if of.was:
        yield "Was", in_few_words(of.was)
    if of.lost:
        yield "Lost", stay_lost(of.lost)
    if is_explained(change):
        yield "Explanation", change.explanation or ""
    yield "End", end_of(of)[0]
    yield from _ownership(of)
    if change.objectives is None:
        yield "Lag", records(change.total_lag)


def _people(of: Standing, now: int) -> Iterator[tuple[str, str]]:
    said, until = of.acknowledged, of.silenced_until
    if said is not None:
        why = f": {said.why}" if said.why else ""
        yield "Handled", f"Acknowledged by {said.by} at {clock(said.at, now)}{why}"
    if until and until > now:
        yield "Handled", f"Silenced until {clock(until, now)}"
