"""What to do, by the causes that the pages show, and by what lies ahead."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from warren.loss_words import after_loss
from warren.words import duration, rate, records, utc, visible

from warren_archiver.gold.conventions import SHORT_MS
from warren_archiver.report.group_report import GroupReport, Incident, Report
from warren_archiver.report.words import count

LOSS_SOON_DAYS = 7
"""Days until loss, by the trend, below which somebody should act."""
_DAY_MS = 86_400_000


class Advice(NamedTuple):
    """What to do about a group; `level` is ERR or WARN."""

    level: str
    group: str
    sentence: str


def advice(report: Report) -> list[Advice]:
    """What to do, the worst first: by the causes that the pages show, too."""
    noisy = Counter((each.cluster, each.group) for each in report.incidents if each.flapped)
    of_group: dict[tuple[str, str], list[Incident]] = defaultdict(list)
    for each in report.incidents:
        of_group[each.cluster, each.group].append(each)
    found: list[Advice] = []
    for group in report.groups:
        key = group.cluster, group.group
        found += _of_group(group, of_group.pop(key, []), noisy[key])
    found += [
        Advice(each.worst, visible(each.group), f"Still open, and not judged any more. {said}")
        for lasting in of_group.values()
        for each in lasting
        if each.closed_ms is None and (said := _said(each))
    ]
    for budget in report.budgets:
        if budget.left < 0.25:
            left = f"{budget.left:.0%} of its error budget is left"
            if budget.left < 0:
                left = f"its error budget is overspent by {-budget.left:.0%}"
            found.append(
                Advice(
                    "ERR" if budget.left <= 0 else "WARN",
                    visible(budget.group),
                    f"objective {budget.objective} ({budget.limit}): {left}, "
                    f"{budget.attainment:.2%} kept of {budget.target:.2%} in 30 days.",
                )
            )
    return sorted(found, key=lambda each: each.level)  # ERR before WARN; else as they were


def _of_group(group: GroupReport, incidents: Sequence[Incident], flapped: int) -> Iterator[Advice]:
    name = visible(group.group)
    level = "ERR" if group.held_ms["ERR"] else "WARN"
    told = [each for each in incidents if each.closed_ms is None]
    if not told and group.held_ms["ERR"] + group.held_ms["WARN"] > SHORT_MS:
        told = [*incidents[-1:]]
    for each in told:
        if said := _said(each):
            still_open = each.closed_ms is None
            yield Advice(
                each.worst if still_open else level, name, f"{'Still open. ' * still_open}{said}"
            )
    if group.lost_records and not any("records_lost" in _names(each) for each in told):
        lost = records(group.lost_records)
        yield Advice(
            "ERR", name, f"Retention deleted {lost} that it had not consumed: {after_loss()}."
        )
    outlook = group.outlook
    days = None if outlook is None else outlook.days_until_loss
    if days is not None and days <= LOSS_SOON_DAYS:
        left = duration(days * _DAY_MS)
        yield Advice("ERR", name, f"if it goes on so, retention deletes its records in {left}.")
    if group.crosses_soon:
        yield Advice("WARN", name, _crossing(group))
    if flapped >= 3:
        yield Advice(
            "WARN", name, f"it flapped {flapped} times: more evaluation.intervals would calm it."
        )
    if group.idle_members:
        yield Advice(
            "WARN",
            name,
            f"{count(group.idle_members, 'member')} had no partition: "
            "fewer members, or more partitions.",
        )


def _names(incident: Incident) -> list[str | None]:
    return [incident.cause, *(each.name for each in incident.also)]


def _said(incident: Incident) -> str | None:
    """The cause and what to do, then the same of its consequences; of a cause that is not known
    what was seen. Sentences have the figures of their time, which is said.
    """
    if incident.sentence is None or incident.said_ms is None:
        seen = incident.explanation or (incident.reason or "").replace("_", " ")
        return f"Seen at {utc(incident.opened_ms)}: {visible(seen)}." if seen else None
    parts = [f"At {utc(incident.said_ms)}: {visible(incident.sentence)}."]
    if incident.action:
        parts.append(f"What to do: {visible(incident.action)}.")
    for each in incident.also:
        parts.append(f"Also: {visible(each.sentence)}.")
        if each.action:
            parts.append(f"Then: {visible(each.action)}.")
    return " ".join(parts)


def _crossing(group: GroupReport) -> str:
    found = group.outlook
    assert found is not None
    assert found.capacity is not None
    assert found.level is not None
    latest = "never" if found.latest_on is None else str(found.latest_on)
    return (
        f"shown to consume {rate(found.capacity)}; its busiest hour asks for {rate(found.level)} "
        f"by now, and for more than that from {found.crosses_on} on "
        f"(between {found.earliest_on} and {latest}): add partitions and consumers before."
    )
