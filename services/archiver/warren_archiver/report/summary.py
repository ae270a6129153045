"""A report's summary in plain words, for who reads nothing else."""

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import NamedTuple

from warren.words import clock, counted, duration, grouped, records, shortened, visible

from warren_archiver.report.group_report import GroupReport, Key, Report, Stamp

ALL_THE_TIME = 0.99
"""Share: a start or a rebalance of the evaluator is no gap to speak of."""
MOST_NAMED = 3
"""Groups that a sentence names; the others are counted."""
LONGEST_NAME, LONGEST_SAYING = 40, 140
"""Characters: the summary is one page, whatever groups are called and whoever says why."""
_UNITS = {"s": "second", "m": "minute", "h": "hour", "d": "day"}


class Answer(NamedTuple):
    """What a boss asks, answered in whole sentences."""

    question: str
    sentences: list[str]


def summary(report: Report) -> list[Answer]:
    """Say what the figures say, lost data first: what nobody measured is called unknown, never
    none.
    """
    if not report.groups and not report.incidents:
        nothing = f"No consumer group was judged in this period{_begins(report, 'evaluations')}."
        return [Answer("What happened", [nothing])]
    # One that goes on is read later than it was made: each answer says of what time it is.
    end, stamp = report.period.end_ms, report.stamp("losses")
    until = "" if report.is_closed else f" until {clock(end, end)}"
    known = (stamp and stamp.until_ms) or end
    lost_until = until and f" until {clock(known, end)}"
    happened = [*_groups(report), *_incidents(report), *_objectives(report)]
    return [
        Answer(f"What was lost{lost_until}", [*_lost(report), *_loss_unknown(report)]),
        Answer(f"What happened{until}", happened),
        Answer(f"Who was hit{until}", [*_hit(report), *_still_open(report)]),
    ]


def spelt(milliseconds: float) -> str:
    """`7 hours 13 minutes`, `1 second`, `less than 1 second`."""
    if 0 < milliseconds < 1000:
        return "less than 1 second"
    parts = ((each[:-1], _UNITS[each[-1]]) for each in duration(milliseconds).split())
    return " ".join(f"{count} {unit}{'s' * (count != '1')}" for count, unit in parts)


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _named(words: Sequence[str]) -> str:
    """The first ones, and how many there are beside them."""
    more = len(words) - MOST_NAMED
    return listed([*words[:MOST_NAMED], *([f"{grouped(more)} more"] if more > 0 else [])])


def _name(report: Report, key: Key) -> str:
    return shortened(report.name(key), LONGEST_NAME)


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _troubled(report: Report) -> set[Key]:
    judged = {each.key for each in report.groups if each.in_trouble_ms}
    return judged | report.incidents_by_group.keys()


def _groups(report: Report) -> Iterator[str]:
    troubled = _troubled(report)
    well = [each for each in report.judged if each.key not in troubled]
    others = [each for each in report.groups if each.key not in troubled and not each.evaluations]
    when = _when(well, report.period.length_ms) if well else ""
    bad = "in trouble"
    if not report.judged:
        yield f"No evaluation of this period is archived{_begins(report, 'evaluations')}."
        bad += " by status changes"
    held = [(len(troubled), bad), (len(well), f"well {when}"), (len(others), "not judged")]
    held = [(number, how) for number, how in held if number]
    total = sum(number for number, _ in held)
    (first, how), *rest = held
    if not rest:
        every = "The only consumer group" if total == 1 else f"All {grouped(total)} consumer groups"
        if first != len(others):
            yield f"{every} {_were(total)} {how}."
        return
    parts = [f"{grouped(first)} of {grouped(total)} consumer groups {_were(first)} {how}"]
    parts += [f"{grouped(number)} {_were(number)} {how}" for number, how in rest[:-1]]
    last, how = rest[-1]
    other = "other one" if last == 1 else f"other {grouped(last)}"
    yield "; ".join([*parts, f"the {other} {_were(last)} {how}"]) + "."


def _begins(report: Report, kind: str) -> str:
    stamp = report.stamp(kind)
    if stamp is None or stamp.since_ms is None:
        return ""
    return f": the archive begins with {clock(stamp.since_ms, report.period.end_ms)}"


def _when(well: Sequence[GroupReport], length_ms: int) -> str:
    """What nobody judged is not said to have been well."""
    judged = 1.0 - sum(each.unknown_ms for each in well) / (length_ms * len(well))
    if judged >= ALL_THE_TIME:
        return "all the time"
    return f"whenever judged, {max(judged, 0.01):.0%} of the time"


def _incidents(report: Report) -> Iterator[str]:
    incidents = report.incidents
    begun = [each for each in incidents if each.opened_ms >= report.period.start_ms]
    before = len(incidents) - len(begun)
    stamp = report.stamp("incidents")
    if stamp is not None and stamp.until_ms is None:
        yield f"No incident of this period is archived{_begins(report, 'incidents')}."
    elif not incidents:
        yield f"There was no incident{_since(stamp, report.period.end_ms)}."
    if not incidents:
        return
    parts = [f"{counted(len(begun), 'incident')} began"] if begun else []
    if before:
        parts.append(f"{counted(before, 'incident')} went on from before")
    yield f"{listed(parts)}."
    if over := [each.length_ms for each in incidents if each.length_ms is not None]:
        yield f"{grouped(len(over))} ended, after {_average(over)}."
    if told := [
        each.notified_ms - each.opened_ms for each in begun if each.notified_ms is not None
    ]:
        some = f", for {grouped(len(told))} of the {grouped(len(begun))} that began"
        went = "A notification" if len(told) == 1 else "Notifications"
        yield f"{went} went out after {_average(told)}{some if len(told) < len(begun) else ''}."
    elif begun:
        yield f"No notification of {'it' if len(begun) == 1 else 'them'} is on record."


def _since(stamp: Stamp | None, end_ms: int) -> str:
    if stamp is None or stamp.since_ms is None:
        return ""
    return f" from {clock(stamp.since_ms, end_ms)} on"


def _average(lengths: Sequence[int]) -> str:
    return f"{spelt(mean(lengths))}{' on average' * (len(lengths) > 1)}"


def _objectives(report: Report) -> Iterator[str]:
    missed = [each for each in report.budgets if each.attainment < each.target]
    if not missed:
        return
    worst = missed[0]
    name = shortened(visible(worst.objective), LONGEST_NAME)
    which = f"“{name}” of {_name(report, (worst.cluster, worst.group))}"
    kept = f"kept {worst.attainment:.2%} of the time, promised was {worst.target:.2%}"
    if len(missed) == 1:
        yield f"The objective {which} was missed over 30 days: {kept}."
    else:
        yield f"{grouped(len(missed))} objectives were missed over 30 days, first {which}: {kept}."


def _hit(report: Report) -> Iterator[str]:
    troubled = _troubled(report)
    held = [each for each in report.groups if each.in_trouble_ms]
    held.sort(key=lambda each: -each.in_trouble_ms)
    if held:
        hit = [f"{_name(report, each.key)} ({spelt(each.in_trouble_ms)})" for each in held]
        yield f"{_named(hit)} {_were(len(hit))} in trouble."
    if unseen := sorted(troubled - {each.key for each in held}):
        names = _named([_name(report, key) for key in unseen])
        had = "an incident" if len(unseen) == 1 else "incidents"
        yield f"{names} had {had}{', too' if held else ''}."
    if not troubled:
        yield "No consumer group." if report.judged else "It is not known."


def _still_open(report: Report) -> Iterator[str]:
    still = [each for each in report.incidents if each.closed_ms is None]
    if not still:
        if report.incidents:
            yield "No incident was open at the end."
        return
    oldest = min(still, key=lambda each: each.opened_ms)
    since = f"{_name(report, oldest.key)}, since {clock(oldest.opened_ms, report.period.end_ms)}"
    if (number := len({each.key for each in still})) == 1:
        yield f"One group had an open incident at the end: {since}."
    else:
        yield f"{grouped(number)} groups had open incidents at the end, the oldest of {since}."


def _lost(report: Report) -> Iterator[str]:
    losing = [each for each in report.groups if each.lost_records]
    losing.sort(key=lambda each: -(each.lost_records or 0))
    if losing:
        count = sum(each.lost_records or 0 for each in losing)
        readers = _named([_name(report, each.key) for each in losing])
        it = "it" if count == 1 else "them"
        least = "at least " if any(each.lost_at_least for each in losing) else ""
        yield (
            f"Retention deleted {least}{records(count)} before {readers} had read "
            f"{it}; nobody can get {it} back."
        )
    measured = {each.key for each in losing}
    said = {
        key: shortened(visible(text), LONGEST_SAYING)
        for key, incidents in report.incidents_by_group.items()
        for each in incidents
        if key not in measured and (text := each.loss)
    }
    names = [_name(report, key) for key in said]
    if len(said) == 1:
        yield f"An incident of {names[0]} says: {said.popitem()[1]}."
    elif said:
        yield f"Incidents of {_named(names)} say that records were lost."


def _loss_unknown(report: Report) -> Iterator[str]:
    unknown = [each for each in report.groups if each.lost_records is None]
    if not unknown and any(each.lost_records for each in report.groups):
        if when := _not_known_when(report, "losses"):
            yield f"It is not known whether more were lost{when}."
        return
    if report.groups and not unknown:
        yield "No record was deleted before it was read."
        return
    which = "" if len(unknown) == len(report.groups) else f" of {counted(len(unknown), 'group')}"
    measured = all(each.late_max_ms is not None for each in unknown)
    when = _not_known_when(report, "losses") if measured else ""
    yield f"It is not known whether records{which} were lost{when}."


def _not_known_when(report: Report, kind: str) -> str:
    """` before 06:10 UTC or after 06:35 UTC`; empty: of no moment, or of none that is said."""
    stamp = report.stamp(kind)
    if stamp is None or stamp.until_ms is None:
        return ""
    end = report.period.end_ms
    parts = [] if stamp.since_ms is None else [f"before {clock(stamp.since_ms, end)}"]
    if stamp.why is not None:
        parts.append(f"after {clock(stamp.until_ms, end)}")
    return f" {' or '.join(parts)}" if parts else ""
