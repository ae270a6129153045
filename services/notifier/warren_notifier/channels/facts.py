"""What is said of an incident, fact by fact: of a group's, the root first. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warren.contracts import Acknowledged, BadPartition, Breach, DeliveryKind, StatusChange
from warren.words import as_of, clock, duration, grouped, records, utc, visible

from warren_notifier.channels.first_step import first_step
from warren_notifier.channels.lateness import lateness_ms, time_to_loss_ms
from warren_notifier.channels.links import is_web_link
from warren_notifier.channels.told_event import CALLED, ToldEvent, at
from warren_notifier.routing import lost_end

OLD_MS = 10_000
"""From this age on figures are others by now: they carry the time of which they are."""
SENTENCES = ("Cause", "Also", "Explanation", "Objective")
"""Facts with figures of when they were said."""
STEP = "What to do"
FIGURES = ("Late by", "Data loss", "Lag")
"""The first of those that come last."""
# How an incident ended, for the subject and for the sentence.
_END = {
    None: ("OK again", "is OK again"),
    "group_deleted": ("group deleted", "was deleted"),
    "group_expired": ("group expired", "has expired: it does not commit any more"),
    "group_forgotten": ("group forgotten", "was forgotten on request until it commits again"),
    "offsets_expired": (
        "offsets expired, not recovered",
        "has not recovered: its committed offsets have expired",
    ),
    "offsets_deleted": (
        "offsets deleted, not recovered",
        "has not recovered: its committed offsets, or their topics, were deleted",
    ),
    "not_watched": (
        "not watched any more",
        "is not watched any more: the collector's settings leave it out",
    ),
    "objective_removed": (
        "objective removed",
        "has no such objective any more: it was removed from the settings",
    ),
    lost_end.REPLACED: (
        "replaced by another incident",
        "has another incident since; the end of this one was not seen",
    ),
}
_KEPT = ("objectives kept again", "keeps its objectives again")


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


def facts_of(kind: DeliveryKind, told: ToldEvent, now: int) -> list[tuple[str, str]]:
    """(name, value) pairs as of `now`, Unix milliseconds."""
    of = _of_several(told, now) if told.is_several else _of_one(kind, told.change, told.at, now)
    found = [*of, *_handled(told, now)]
    if kind == "resolved" or not told.open or any(name == STEP for name, _ in found):
        return found
    place = next((n for n, (name, _) in enumerate(found) if name in FIGURES), len(found))
    return [*found[:place], (STEP, first_step(e.data for e in told.open)), *found[place:]]


def _handled(told: ToldEvent, now: int) -> Iterator[tuple[str, str]]:
    said = told.acknowledged
    if said is not None:
        why = f": {visible(said.why)}" if said.why else ""
        yield "Handled", f"Acknowledged by {visible(said.by)} at {clock(said.at, now)}{why}"
    for each in handled(None, told.silenced_until, now):
        yield "Handled", each.capitalize()


def _of_several(told: ToldEvent, now: int) -> Iterator[tuple[str, str]]:
    """Each condition has a time of its own: what is old carries it."""
    change = told.change
    yield "Since", utc(change.opened_at)
    for each in told.open:
        seen, data = at(each), each.data
        found = [*_why(data), *_objectives(data.objectives or [])]
        if not any(name in SENTENCES for name, _ in found):
            yield "Condition", f"{CALLED[each.type]} {data.status}"
        for name, value in found:
            is_dated = name in SENTENCES and is_old(seen, now)
            yield name, as_of(value, seen, now) if is_dated else value
    yield from _ownership(change)
    for each in told.ended:
        lasted = duration(at(each) - each.data.opened_at)
        yield "Over", f"{CALLED[each.type]}: {how_it_ended(each.data)} after {lasted}"
    measured = max(told.open, key=lambda each: (each.data.total_lag > 0, each.time))
    if told.late_ms is not None:
        late, seen = told.late_ms
        yield "Late by", then(duration(late), seen, now)
    if told.loss_at is not None:
        yield "Data loss", loss(*told.loss_at, now)
    yield "Lag", then(records(measured.data.total_lag), at(measured), now)


def _of_one(
    kind: DeliveryKind, change: StatusChange, seen: int, now: int
) -> Iterator[tuple[str, str]]:
    since = utc(change.opened_at)
    if kind == "resolved":
        yield "From", since
        yield "Until", f"{utc(seen)} ({duration(seen - change.opened_at)})"
        if change.explanation and change.reason and change.reason in _END:
            yield "Explanation", visible(change.explanation)
    else:
        yield "Since", since
        if is_old(seen, now):
            yield "As of", utc(seen)
        yield from _why(change)
        yield from _ownership(change)
    if change.objectives is not None:
        yield from _objectives(change.objectives)
    if kind != "resolved":
        late, left = lateness_ms(change), time_to_loss_ms(change)
        if late is not None:
            yield "Late by", duration(late)
        if left is not None:
            # All of it is "as of" that time, which a line before says.
            yield "Data loss", loss(seen + left, seen, seen if left else now)
    if change.objectives is not None:
        return
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


def _why(change: StatusChange) -> Iterator[tuple[str, str]]:
    """Objectives say in their own lines what the explanation says of them."""
    if change.cause is not None and change.cause.is_known:
        yield "Cause", visible(change.cause.sentence)
        if change.cause.action:
            yield STEP, visible(change.cause.action)
        for found in change.cause.also:
            yield "Also", visible(found.sentence)
            if found.action:
                yield "Then", visible(found.action)
    elif change.explanation and change.objectives is None:
        yield "Explanation", visible(change.explanation)


def how_it_ended(change: StatusChange) -> str:
    """`OK again`, `group deleted`."""
    return _end(change)[0]


def end_sentence(change: StatusChange) -> str:
    """`is OK again`, `was deleted`."""
    return _end(change)[1]


def _end(change: StatusChange) -> tuple[str, str]:
    """Of a reason that only a newer Warren knows, the reason itself."""
    if change.reason is None and change.objectives is not None:
        return _KEPT
    said = visible(change.reason or "")
    return _END.get(change.reason, (f"ended, {said},", f"is not watched any more: {said}"))


def _ownership(change: StatusChange) -> Iterator[tuple[str, str]]:
    """Objectives say theirs in their own lines."""
    if change.owner:
        yield "Owner", visible(change.owner)
    if change.runbook:
        yield "Runbook", visible(change.runbook)


def _objectives(breaches: Sequence[Breach]) -> Iterator[tuple[str, str]]:
    for breach in breaches:
        yield "Objective", visible(f"{breach.objective}: {breach.sentence}")
        if breach.owner:
            yield "Owner", visible(breach.owner)
        if breach.runbook:
            yield "Runbook" if is_web_link(breach.runbook) else STEP, visible(breach.runbook)


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
