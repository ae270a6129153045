"""What to do, by the causes that the pages show, and by what lies ahead. What is over needs nothing
done, and what has as many members as partitions no consumers.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from warren.words import after_loss, counted, duration, rate, records, utc, visible

from warren_archiver.gold.conventions import SHORT_MS
from warren_archiver.report.group_report import (
    LOSS_SOON_DAYS,
    SOON_DAYS,
    Budget,
    GroupReport,
    Incident,
    Outlook,
    Report,
)
from warren_archiver.report.period import DAY_MS

LITTLE_BUDGET = 0.25
"""Share of an error budget below which it is worth a look."""
_KEEP_LONGER = "It keeps up again; raise retention.ms where that may come back"
OFTEN = 3
"""Incidents of a group that began right after one, from which on it flaps."""


class Advice(NamedTuple):
    """What to do about a group; `level` is ERR or WARN."""

    level: str
    group: str
    sentence: str


def advice(report: Report) -> list[Advice]:
    """What to do, the worst first: who loses records, ERR, WARN."""
    evaluations = report.stamp("evaluations")
    ended = evaluations is None or evaluations.since_ms is None
    still = "Still open, and not judged any more." if ended else "Still open."
    judged = {each.key for each in report.judged}
    groups = {each.key for each in report.groups}
    found = [
        Advice(level, visible(group.group), sentence)
        for group in report.groups
        for level, sentence in _of_group(
            group,
            report.incidents_by_group.get(group.key, []),
            "Still open." if group.key in judged else still,
        )
    ]
    found += [
        Advice(each.worst, visible(each.group), f"{still} {said}")
        for key, incidents in report.incidents_by_group.items()
        for each in incidents
        if key not in groups and each.closed_ms is None and (said := _said(each))
    ]
    found += [_of_budget(each) for each in report.budgets if each.left < LITTLE_BUDGET]
    lost = {visible(each.group) for each in report.groups if each.lost_records}
    lost |= {visible(each.group) for each in report.incidents if each.loss}
    # ERR before WARN, too; else as they were.
    return sorted(found, key=lambda each: (each.level, each.group not in lost))


def _of_budget(budget: Budget) -> Advice:
    left = f"{budget.left:.0%} of its error budget is left"
    if budget.left < 0:
        left = f"its error budget is overspent by {-budget.left:.0%}"
    return Advice(
        "ERR" if budget.left <= 0 else "WARN",
        visible(budget.group),
        f"objective {budget.objective} ({budget.limit}): {left}, "
        f"{budget.attainment:.2%} kept of {budget.target:.2%} in 30 days.",
    )


def _of_group(
    group: GroupReport, incidents: Sequence[Incident], still_open: str
) -> Iterator[tuple[str, str]]:
    """Levels and sentences."""
    told = [each for each in incidents if each.closed_ms is None]
    if not told and group.in_trouble_ms > SHORT_MS:
        told = [*incidents[-1:]]
    for each in told:
        if (group.lost_records and each.is_about_loss) or not (said := _said(each)):
            continue  # what was lost in the end is said below
        if each.closed_ms is None:
            yield each.worst, f"{still_open} {said}"
        else:
            yield "ERR" if group.held_ms["ERR"] else "WARN", f"Over. {said}"
    still = [each for each in incidents if each.closed_ms is None]
    if group.lost_records and not any(each.loss for each in told):
        lost = f"{'at least ' if group.lost_at_least else ''}{records(group.lost_records)}"
        todo = after_loss() if still or group.status != "OK" else _KEEP_LONGER
        goes_on = f"{still_open} " if any(each.is_about_loss for each in still) else ""
        yield "ERR", f"{goes_on}{lost} were deleted that it had not consumed. {todo}."
    found = group.outlook
    days = None if found is None else found.days_until_loss
    if still and days is not None and days <= LOSS_SOON_DAYS:
        left = duration(days * DAY_MS)
        yield "ERR", f"if it goes on so, retention deletes its records in {left}."
    ahead = None if found is None else found.crosses_in_days
    crosses = ahead is not None and ahead <= SOON_DAYS
    if crosses and found:
        yield "WARN", _crossing(found, has_idle=bool(group.idle_members))
    if (flapped := sum(each.flapped for each in incidents)) >= OFTEN:
        yield "WARN", f"flapped {flapped} times: try calmer settings with `warren replay --set`."
    if group.idle_members and not crosses:
        idle = counted(group.idle_members, "member")
        yield "WARN", f"{idle} had no partition at the end: fewer members do as well."


def _said(incident: Incident) -> str | None:
    """The cause and what to do, then the same of its consequences; of a cause that is not known
    what was seen. Sentences have the figures of their time, which is said.
    """
    if incident.sentence is None:
        return None
    seen = "At" if incident.cause else "Seen at"
    parts = [f"{seen} {utc(incident.said_ms)}: {incident.sentence}."]
    is_open = incident.closed_ms is None
    if incident.action:
        parts.append(f"{'What to do' if is_open else 'If it comes again'}: {incident.action}.")
    for each in incident.also:
        parts.append(f"Also: {each.sentence}.")
        if each.action and is_open:
            parts.append(f"Then: {each.action}.")
    return visible(" ".join(parts))


def _crossing(found: Outlook, *, has_idle: bool) -> str:
    assert found.capacity is not None
    assert found.level is not None
    latest = found.latest_on or "never"
    more = "add partitions" if has_idle else "make it faster, or add partitions and consumers"
    return (
        f"shown to consume {rate(found.capacity)}; its busiest hour asks for {rate(found.level)} "
        f"by now, and for more than that from {found.crosses_on} on "
        f"(between {found.earliest_on} and {latest}): {more} before."
    )
