"""A report's summary in sentences, and how far it is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import mean

from warren.words import duration, grouped, records, utc, visible

from warren_archiver.gold.conventions import SHORT_MS
from warren_archiver.report.group_report import SOON_DAYS, GroupReport, Incident, Report

ALL_THE_TIME = 0.99  # a start or a rebalance of the evaluator is no gap to speak of


def known_up_to(report: Report) -> str:
    """How far each kind of data is known, the furthest first; empty where all is."""
    if report.is_closed and not any(each.why for each in report.known):
        return ""
    kinds: dict[int, list[str]] = defaultdict(list)
    for each in report.known:
        kinds[-1 if each.until_ms is None else each.until_ms].append(each.kind.replace("_", " "))
    return "; ".join(
        f"{_listed(kinds[at])} {'not at all' if at < 0 else f'up to {utc(at)}'}"
        for at in sorted(kinds, reverse=True)
    )


def unknown(report: Report, kind: str) -> str:
    """Why a figure of this kind is not there."""
    stamp = report.stamp(kind)
    if stamp is None or stamp.why is None:
        return "not known of this group"
    until = "" if stamp.until_ms is None else f" up to {utc(stamp.until_ms)}"
    return f"known{until}: {stamp.why}" if until else f"not known: {stamp.why}"


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def summary(report: Report) -> list[str]:
    """What a reader who reads nothing else has to know."""
    return [
        *_of_groups(report.groups, report.incidents, report.period.length_ms),
        *_not_known(report),
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
        yield f"{grouped(len(well))} of {count(len(groups), 'group')} {were} OK {when}."
    if errors := [each for each in groups if each.held_ms["ERR"]]:
        total = sum(each.held_ms["ERR"] for each in errors)
        worst = errors[0]
        held = duration(worst.held_ms["ERR"])
        if len(errors) == 1:
            yield f"{visible(worst.group)} was in ERR for {held}."
        else:
            yield (
                f"{count(len(errors), 'group')} were in ERR, for {duration(total)} together; "
                f"{visible(worst.group)} the longest, for {held}."
            )
    if lost := [each for each in groups if each.lost_records]:
        yield (
            f"Retention deleted records that {count(len(lost), 'group')} had not consumed: "
            f"{records(sum(each.lost_records or 0 for each in lost))}."
        )


def _not_known(report: Report) -> Iterator[str]:
    """A loss that nobody measured is not said to be none."""
    stamp = report.stamp("losses")
    if report.groups and stamp is not None and stamp.why:
        until = "not known"
        if stamp.until_ms is not None:
            until = f"known up to {utc(stamp.until_ms)} only"
        yield f"Lateness and losses are {until}: {stamp.why}."


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
            yield f"No incident began; {count(len(incidents), 'incident')} went on from before."
        return
    told = [each.told_ms - each.opened_ms for each in begun if each.told_ms is not None]
    over = [each.length_ms for each in begun if each.length_ms is not None]
    parts = [f"{count(len(begun), 'incident')} began"]
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
    slow = [each for each in groups if each.crosses_soon]
    if slow:
        first = min(slow, key=lambda each: each.outlook.crosses_in_days or 0)  # type: ignore[union-attr]  # crosses_soon
        assert first.outlook is not None
        yield (
            f"By its trend, more will be produced than {count(len(slow), 'group')} can consume "
            f"within {SOON_DAYS} days; {visible(first.group)} first, on {first.outlook.crosses_on}."
        )


def count(number: int, noun: str) -> str:
    return f"{grouped(number)} {noun}" if number == 1 else f"{grouped(number)} {noun}s"
