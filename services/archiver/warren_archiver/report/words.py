"""A report's summary and advice, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import NamedTuple

from warren.words import duration, grouped, rate, records, utc, visible

from warren_archiver.gold.conventions import SHORT_MS
from warren_archiver.report.group_report import GroupReport, Incident, Report

SOON_DAYS = 90
LOSS_SOON_DAYS = 7
ALL_THE_TIME = 0.99  # a start or a rebalance of the evaluator is no gap to speak of
_DAY_MS = 86_400_000
_OF_CAUSE = {
    "no_members": "nobody is in the group: start its consumers, or delete the group",
    "one_member": "all partitions in trouble belong to one member: look at that process",
    "one_broker": "all partitions in trouble are led by one broker: look at that broker",
    "stuck_record": "it stays at one record: look at that record, and skip it if it is bad",
    "too_slow": "it consumes less than is produced: add consumers, or make each record cheaper",
    "producer_burst": "more was produced than usual: it may catch up by itself",
    "late": "it consumes what is produced and does not catch up: add consumers for a while",
    "catching_up": "it consumes more than is produced: wait, or add consumers for a while",
    "rebalance_loop": "it rebalances again and again: look at max.poll.interval.ms",
    "flapping": "it is well and not well by turns: see how long its batches take",
    "unowned_partitions": "nobody owns some of its partitions: look at its assignor and members",
    "beyond_log_end": "it committed offsets that the log does not have: reset its offsets",
    "hanging_transaction": "an open transaction holds it up: end that transaction",
    "records_lost": "retention was faster than it: keep records for longer, or add consumers",
    "competing_commits": "two commit its offsets in turn: look for who has its name, too",
    "replaying": "it reads again what it had read: wait, if somebody meant that",
}
_OF_REASON = {
    "no_commit": "it has not committed any more: see whether its consumers run",
    "no_progress": "it commits the same offset again and again: look at the record after it",
    "rewind": "its offset went back: see who has reset it",
    "lag_not_shrinking": "its lag does not shrink: add consumers, or make each record cheaper",
    "not_catching_up": "it does not catch up: add consumers for a while",
    "catching_up": "it catches up: wait, or add consumers for a while",
    "replaying": "it reads again what it had read: wait, if somebody meant that",
    "lag_growing": "its lag grows: add consumers, or make each record cheaper",
    "beyond_log_end": "it committed offsets that the log does not have: reset its offsets",
}


class Advice(NamedTuple):
    """What to do about a group; `level` is ERR or WARN."""

    level: str
    group: str
    sentence: str


def summary(report: Report) -> list[str]:
    """What a reader who reads nothing else has to know."""
    return [
        *_of_groups(report.groups, report.incidents, report.period.length_ms),
        *_of_incidents(report.incidents, report.period.start_ms),
        *_still_open(report.incidents),
        *_to_come(report.groups),
    ]


def _of_groups(
    groups: Sequence[GroupReport], incidents: Sequence[Incident], length_ms: int
) -> Iterator[str]:
    in_trouble = {(each.cluster, each.group) for each in incidents}
    well = [
        each
        for each in groups
        if not (each.held_ms["ERR"] or each.held_ms["WARN"])
        and (each.cluster, each.group) not in in_trouble
    ]
    if not groups:
        yield "No group was judged in this period."
        return
    when = _when(well, length_ms)
    if len(well) == len(groups):
        alone = len(groups) == 1
        who = "The only group was" if alone else f"All {grouped(len(groups))} groups were"
        yield f"{who} OK {when}."
    else:
        were = "was" if len(well) == 1 else "were"
        yield f"{grouped(len(well))} of {_count(len(groups), 'group')} {were} OK {when}."
    if errors := [each for each in groups if each.held_ms["ERR"]]:
        total = sum(each.held_ms["ERR"] for each in errors)
        worst = errors[0]
        held = duration(worst.held_ms["ERR"])
        if len(errors) == 1:
            yield f"{visible(worst.group)} was in ERR for {held}."
        else:
            yield (
                f"{_count(len(errors), 'group')} were in ERR, for {duration(total)} together; "
                f"{visible(worst.group)} the longest, for {held}."
            )
    if lost := [each for each in groups if each.lost_records]:
        yield (
            f"Retention deleted records that {_count(len(lost), 'group')} had not consumed: "
            f"{records(sum(each.lost_records for each in lost))}."
        )


def _when(well: Sequence[GroupReport], length_ms: int) -> str:
    """What nobody judged is not said to have been well."""
    whole = length_ms * len(well)
    judged = 1.0 - sum(each.unknown_ms for each in well) / whole if whole else 1.0
    if judged >= ALL_THE_TIME:
        return "all the time"
    return f"whenever judged, {max(judged, 0.01):.0%} of the time"


def _still_open(incidents: Sequence[Incident]) -> Iterator[str]:
    still = [each for each in incidents if each.closed_ms is None]
    if not still:
        return
    oldest = min(still, key=lambda each: each.opened_ms)
    since = f"{visible(oldest.group)} since {utc(oldest.opened_ms)}"
    if len(still) == 1:
        yield f"One is still open: of {since}."
    else:
        yield f"{grouped(len(still))} are still open, the oldest of {since}."


def _of_incidents(incidents: Sequence[Incident], start_ms: int) -> Iterator[str]:
    begun = [each for each in incidents if each.opened_ms >= start_ms]
    if not begun:
        if incidents:
            yield f"No incident began; {_count(len(incidents), 'incident')} went on from before."
        return
    told = [each.told_ms - each.opened_ms for each in begun if each.told_ms is not None]
    over = [each.length_ms for each in begun if each.length_ms is not None]
    parts = [f"{_count(len(begun), 'incident')} began"]
    if over:
        parts.append(f"over after {duration(mean(over))} on average")
    if told:
        parts.append(f"told to somebody after {duration(mean(told))}")
    yield ", ".join(parts) + "."
    short = sum(length <= SHORT_MS for length in over)
    flapped = sum(each.flapped for each in begun)
    if short or flapped:
        noise = [
            *([f"{grouped(short)} over within 5 minutes"] if short else []),
            *([f"{grouped(flapped)} begun within 15 minutes of the one before"] if flapped else []),
        ]
        yield f"Noise among them: {', '.join(noise)}."


def _to_come(groups: Sequence[GroupReport]) -> Iterator[str]:
    slow = [each for each in groups if _crosses_soon(each)]
    if slow:
        first = min(slow, key=lambda each: each.outlook.crosses_in_days or 0)  # type: ignore[union-attr]  # _crosses_soon
        assert first.outlook is not None
        yield (
            f"By its trend, more will be produced than {_count(len(slow), 'group')} can consume "
            f"within {SOON_DAYS} days; {visible(first.group)} first, on {first.outlook.crosses_on}."
        )


def advice(report: Report) -> list[Advice]:
    """What to do, the worst first."""
    noisy = Counter((each.cluster, each.group) for each in report.incidents if each.flapped)
    last = {(each.cluster, each.group): each for each in report.incidents}
    found = [
        each
        for group in report.groups
        for each in _of_group(group, last, noisy[group.cluster, group.group])
    ]
    judged = {(each.cluster, each.group) for each in report.groups}
    found += [
        Advice(each.worst, visible(each.group), f"Still open, and not judged any more: {said}.")
        for key, each in last.items()
        if key not in judged and each.closed_ms is None and (said := _said(each))
    ]
    for budget in report.budgets:
        if budget.left < 0.25:
            left = f"{budget.left:.0%} of its error budget is left"
            if budget.left < 0:
                left = f"its error budget is overspent by {-budget.left:.0%}"
            found.append(
                Advice(
                    "ERR" if budget.left <= 0 else "WARN",
                    budget.group,
                    f"objective {budget.objective} ({budget.limit}): {left}, "
                    f"{budget.attainment:.2%} kept of {budget.target:.2%} in 30 days.",
                )
            )
    return sorted(found, key=lambda each: each.level)  # ERR before WARN; else as they were


def _of_group(
    group: GroupReport, last: dict[tuple[str, str], Incident], flapped: int
) -> Iterator[Advice]:
    incident = last.get((group.cluster, group.group))
    name = visible(group.group)
    held = group.held_ms["ERR"] + group.held_ms["WARN"]
    if incident is not None and (incident.closed_ms is None or held > SHORT_MS):
        level = "ERR" if group.held_ms["ERR"] else "WARN"
        if said := _said(incident):
            lasting = "Still open: " if incident.closed_ms is None else ""
            yield Advice(level, name, f"{lasting}{said}.")
    if group.lost_records:
        yield Advice(
            "ERR", name, f"{records(group.lost_records)} were lost: {_OF_CAUSE['records_lost']}."
        )
    outlook = group.outlook
    days = None if outlook is None else outlook.days_until_loss
    if days is not None and days <= LOSS_SOON_DAYS:
        left = duration(days * _DAY_MS)
        yield Advice("ERR", name, f"if it goes on so, retention deletes its records in {left}.")
    if _crosses_soon(group):
        yield Advice("WARN", name, _crossing(group))
    if flapped >= 3:
        yield Advice(
            "WARN", name, f"it flapped {flapped} times: more evaluation.intervals would calm it."
        )
    if group.idle_members:
        yield Advice(
            "WARN",
            name,
            f"{_count(group.idle_members, 'member')} had no partition: "
            "fewer members, or more partitions.",
        )


def _said(incident: Incident) -> str | None:
    return _OF_CAUSE.get(incident.cause or "") or _OF_REASON.get(incident.reason or "")


def _crosses_soon(group: GroupReport) -> bool:
    days = None if group.outlook is None else group.outlook.crosses_in_days
    return days is not None and days <= SOON_DAYS


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


def _count(number: int, noun: str) -> str:
    return f"{grouped(number)} {noun}" if number == 1 else f"{grouped(number)} {noun}s"
