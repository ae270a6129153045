"""What is said of an incident, fact by fact: of a group's, the root first. Pure."""

from collections.abc import Collection, Iterator, Sequence

from warren.contracts import (
    Acknowledged,
    BadPartition,
    Condition,
    DeliveryKind,
    StatusChange,
)
from warren.words import (
    LOST_RECORDS,
    as_of,
    clock,
    duration,
    grouped,
    loss_step,
    records,
    utc,
    visible,
)
from warren_core.group_incident import LOST_CAUSE

from warren_notifier.channels.brief import (
    brief,
    condition_over,
    first_step,
    is_explained,
    runbooks,
    stay_lost,
)
from warren_notifier.channels.links import is_web_link
from warren_notifier.channels.notice import CALLED, Notice, said_already

OLD_MS = 10_000
"""From this age on figures are others by now: they carry the time of which they are."""
SENTENCES = ("Cause", "Also", "Explanation", "Objective")
"""Facts with figures of when they were said."""
STEPS = STEP, THEN = "What to do", "Then"
FIGURES = ("Late by", "Data loss", "Lag")
"""The first of those that come last."""


def is_old(seen: int, now: int) -> bool:
    """Whether what was seen then may be otherwise `now`; both Unix milliseconds."""
    return now - seen >= OLD_MS


def then(figure: str, seen: int, now: int) -> str:
    """`2,140 at 07:00 UTC` where it may be another by now. A message is not rendered anew, so it
    names times and no ages.
    """
    return f"{figure} at {clock(seen, now)}" if is_old(seen, now) else figure


def loss(at: int, seen: int, now: int) -> str:
    """`from 08:30 UTC on`: when retention may delete what the group has not consumed, as far as
    that was `seen`.
    """
    if at <= seen:
        return f"under way at {clock(seen, now)}" if is_old(seen, now) else "now"
    said = f"from {clock(at, now)} on"
    return f"{said}, as of {clock(seen, now)}" if is_old(seen, now) else said


def handled(acknowledged: Acknowledged | None, silenced_until: int | None, now: int) -> list[str]:
    """`acknowledged by anna`, `silenced until 08:30 UTC`: what people have done about a group."""
    found = [f"acknowledged by {visible(acknowledged.by)}"] if acknowledged is not None else []
    if silenced_until is not None and silenced_until > now:
        found.append(f"silenced until {clock(silenced_until, now)}")
    return found


def facts_of(kind: DeliveryKind, notice: Notice, now: int) -> list[tuple[str, str]]:
    """(name, value) pairs as of `now`, Unix milliseconds; each once."""
    if kind == "resolved":
        return [*_of_end(notice), *_handled(notice, now)]
    of = _of_several(notice, now) if notice.is_several else _of_one(notice.change, notice.at, now)
    found = list(dict.fromkeys([*of, *_handled(notice, now)]))
    if not notice.open:
        return found
    step = loss_step(b for each in notice.open for b in each.change.objectives or ())
    names = [name for name, _ in found]
    if STEP not in names:
        place = next((n for n, name in enumerate(names) if name in FIGURES), len(found))
        found.insert(place, (STEP, first_step(each.change for each in notice.open)))
    elif step and visible(step) not in (value for _, value in found):
        place = max(n for n, name in enumerate(names) if name in (*SENTENCES, *STEPS))
        found.insert(place + 1, (THEN, visible(step)))
    return found


def _handled(notice: Notice, now: int) -> Iterator[tuple[str, str]]:
    said = notice.acknowledged
    if said is not None:
        why = f": {visible(said.why)}" if said.why else ""
        yield "Handled", f"Acknowledged by {visible(said.by)} at {clock(said.at, now)}{why}"
    for each in handled(None, notice.silenced_until, now):
        yield "Handled", each.capitalize()


def _of_several(notice: Notice, now: int) -> Iterator[tuple[str, str]]:
    """Each condition has a time of its own: what is old carries it."""
    yield "Since", utc(notice.change.opened_at)
    everything = said_already(each.change for each in (*notice.open, *notice.kept))
    needless = said_already(each.change for each in notice.open) | (everything & {LOST_CAUSE})
    for each in notice.open:
        seen, data = each.changed_at, each.change
        found = [*_why(data, needless), *_objectives(data, needless)]
        if not found and not data.objectives:
            yield "Condition", f"{CALLED[each.type]} {data.status}"
        for name, value in found:
            is_dated = name in SENTENCES and is_old(seen, now)
            yield name, as_of(value, seen, now) if is_dated else value
    yield from _ownership([each.change for each in (*notice.open, *notice.kept)])
    for each in notice.kept:
        yield from _well_again(each, everything, now)
    for each in notice.ended:
        lasted = duration((each.until or notice.at) - each.since)
        yield "Over", f"{condition_over(each)} after {lasted}"
    if notice.late_ms is not None:
        late, seen = notice.late_ms
        yield "Late by", then(duration(late), seen, now)
    if notice.loss_at is not None:
        yield "Data loss", loss(*notice.loss_at, now)
    lag, seen = notice.lag
    yield "Lag", then(records(lag), seen, now)


def _well_again(kept: Condition, needless: Collection[str], now: int) -> Iterator[tuple[str, str]]:
    """What holds no more by now, though its incident is not over."""
    seen = clock(kept.changed_at, now)
    if kept.change.objectives is None:
        yield "Well again", f"{CALLED[kept.type]} at {seen}; before: {brief([kept.change])}"
    for breach in kept.change.objectives or ():
        if breach.limit == LOST_RECORDS:
            yield "Lost", visible(breach.sentence)
        elif breach.limit not in needless:
            yield "Kept again", visible(f"{breach.objective} at {seen}; before, {breach.sentence}")


def _of_end(notice: Notice) -> Iterator[tuple[str, str]]:
    change, seen = notice.change, notice.at
    yield "From", utc(change.opened_at)
    yield "Until", f"{utc(seen)} ({duration(seen - change.opened_at)})"
    if notice.was:
        yield "Was", brief(each.change for each in notice.was)
    if notice.lost:
        yield "Lost", stay_lost(notice.lost)
    if is_explained(change):
        yield "Explanation", visible(change.explanation or "")
    yield from _ownership([change]) if change.objectives else ()
    yield from _objectives(change, ())
    if change.objectives is None:
        yield from _lag(change)


def _of_one(change: StatusChange, seen: int, now: int) -> Iterator[tuple[str, str]]:
    yield "Since", utc(change.opened_at)
    if is_old(seen, now):
        yield "As of", utc(seen)
    needless = said_already([change])
    yield from _why(change, needless)
    yield from _objectives(change, needless)
    yield from _ownership([change])
    late, left = change.late_ms, change.time_to_loss_ms
    if late is not None:
        yield "Late by", duration(late)
    if left is not None:
        # All of it is "as of" that time, which a line before says.
        yield "Data loss", loss(seen + left, seen, seen if left else now)
    if change.objectives is None:
        yield from _lag(change)


def _lag(change: StatusChange) -> Iterator[tuple[str, str]]:
    yield "Lag", records(change.total_lag)
    if change.max_lag is not None and change.max_lag.lag != 0:
        worst = change.max_lag
        yield (
            "Largest lag",
            f"{visible(worst.topic)} partition {worst.partition}: {records(worst.lag)}",
        )
    counts = sorted(change.partition_counts.items(), key=lambda item: item[0] == "OK")
    if counts:
        yield "Partitions", ", ".join(f"{grouped(n)} {status}" for status, n in counts)


def _why(change: StatusChange, needless: Collection[str]) -> Iterator[tuple[str, str]]:
    """Objectives say in their own lines what the explanation says of them."""
    if change.cause is not None and change.cause.is_known:
        yield "Cause", visible(change.cause.sentence)
        if change.cause.action:
            yield STEP, visible(change.cause.action)
        for found in change.cause.also:
            if found.name in needless:
                continue
            yield "Also", visible(found.sentence)
            if found.action:
                yield THEN, visible(found.action)
    elif change.explanation and change.objectives is None:
        yield "Explanation", visible(change.explanation)


def _ownership(changes: Sequence[StatusChange]) -> Iterator[tuple[str, str]]:
    """Of groups, and of objectives that have an own."""
    breaches = [breach for change in changes for breach in change.objectives or ()]
    for owner in [*(b.owner for b in breaches), *(change.owner for change in changes)]:
        if owner:
            yield "Owner", visible(owner)
    for runbook in runbooks(changes):
        is_step = not is_web_link(runbook) and any(b.runbook == runbook for b in breaches)
        yield STEP if is_step else "Runbook", visible(runbook)


def _objectives(change: StatusChange, needless: Collection[str]) -> Iterator[tuple[str, str]]:
    for breach in change.objectives or ():
        if breach.limit not in needless:
            yield "Objective", visible(f"{breach.objective}: {breach.sentence}")


def row_of(partition: BadPartition) -> tuple[str, str, str, str, str, str]:
    return (
        partition.status,
        f"{visible(partition.topic)} {partition.partition}",
        _figure(partition.lag),
        _figure(partition.committed),
        _figure(partition.log_end),
        utc(partition.committed_at),
    )


def _figure(value: int | None) -> str:
    """`2,140`; `unknown` for None and Kafka's -1."""
    return "unknown" if value is None or value < 0 else grouped(value)
