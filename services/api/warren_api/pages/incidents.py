"""Incidents on pages: which are shown, the open ones first; those that come and go, five of a kind
within half an hour, told as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import MINUTE_MS, Cause, GroupStatusName, Status

from warren_api.model.past import Past
from warren_api.model.status_history import IncidentRecord
from warren_api.pages.lists import ListView, Paged, paged
from warren_api.search import Term, hints, terms


class AtOpening(NamedTuple):
    """Figures of a group when its incident opened; None where they are not remembered."""

    lag: int | None
    late_ms: float | None
    members: float | None


def at_opening(incident: IncidentRecord, past: Past) -> AtOpening:
    first = incident.changes[0] if incident.changes else None
    told = first if first is not None and first.at <= incident.opened_at else None
    minute = incident.opened_at - incident.opened_at % MINUTE_MS
    name = incident.cluster, incident.group
    then = past.group(*name, minute, minute + MINUTE_MS, MINUTE_MS)
    late, members = then["late_ms"][0], then["members"][0]
    return AtOpening(told.change.total_lag if told else None, late, members)


def newest_cause(incident: IncidentRecord) -> Cause | None:
    """What was said of it last, where anything spoke clearly for one."""
    causes = (recorded.change.cause for recorded in reversed(incident.changes))
    return next((cause for cause in causes if cause is not None and cause.is_known), None)


OPENINGS = 5
WINDOW_MS = 30 * 60_000


class Flapping(NamedTuple):
    """`incidents`: newest first, at least OPENINGS; `now`: Unix milliseconds."""

    incidents: Sequence[IncidentRecord]
    now: int

    @property
    def newest(self) -> IncidentRecord:
        return self.incidents[0]

    @property
    def opened_at(self) -> int:
        return self.incidents[-1].opened_at

    @property
    def is_open(self) -> bool:
        return self.newest.is_open

    @property
    def closed_at(self) -> int | None:
        return self.newest.closed_at

    @property
    def worst(self) -> GroupStatusName:
        return max((each.worst for each in self.incidents), key=lambda status: Status[status])

    @property
    def bad_percent(self) -> int:
        """How much of the time, from the first opening on, it was ERR."""
        end = self.now if self.is_open else self.closed_at or self.newest.opened_at
        spent = sum(_bad_ms(each, self.now) for each in self.incidents)
        return round(100 * spent / max(end - self.opened_at, 1))


def folded(known: Iterable[IncidentRecord], now: int) -> list[IncidentRecord | Flapping]:
    """Of one group, newest first."""
    by_kind: defaultdict[str, list[IncidentRecord]] = defaultdict(list)
    for each in known:
        by_kind[each.type].append(each)
    found = [one for kind in by_kind.values() for one in _folded(kind, now)]
    return sorted(found, key=lambda one: one.opened_at, reverse=True)


def _folded(known: Sequence[IncidentRecord], now: int) -> list[IncidentRecord | Flapping]:
    """`known`: of one kind, newest first."""
    flaps = [False] * len(known)
    for first in range(len(known) - OPENINGS + 1):
        last = first + OPENINGS
        if known[first].opened_at - known[last - 1].opened_at <= WINDOW_MS:
            flaps[first:last] = [True] * OPENINGS
    found: list[IncidentRecord | Flapping] = []
    run: list[IncidentRecord] = []
    for each, is_flap in zip(known, flaps, strict=True):
        if run and not (is_flap and run[-1].opened_at - each.opened_at <= WINDOW_MS):
            found.append(Flapping(run, now))
            run = []
        if is_flap:
            run.append(each)
        else:
            found.append(each)
    return [*found, Flapping(run, now)] if run else found


def _bad_ms(incident: IncidentRecord, now: int) -> int:
    """For how long it was ERR, as far as that is remembered."""
    end = now if incident.is_open else incident.closed_at
    times = [recorded.at for recorded in incident.changes]
    if end is None or not times:
        return 0
    return sum(
        max(until - recorded.at, 0)
        for recorded, until in zip(incident.changes, [*times[1:], end], strict=True)
        if recorded.change.status == "ERR"
    )


INCIDENTS_SHOWN = 50  # on one page
_KEYS = ("cluster", "group", "cause", "is", "status")
_CHOICES = {"is": ("open", "over"), "status": ("err", "warn")}


@dataclass(frozen=True)
class IncidentListView(ListView):
    """Which incidents are asked for."""

    path = "/incidents"


class IncidentList(NamedTuple):
    """`open`: of all. `problems`: what was, or may have been, not understood."""

    page: Paged[IncidentRecord]
    open: int
    problems: list[str]


def incident_list(known: Iterable[IncidentRecord], asked: IncidentListView) -> IncidentList:
    """`known`: newest first."""
    ranked = sorted(known, key=lambda each: not each.is_open)
    wanted = terms(asked.q, _KEYS)
    problems = [problem for term in wanted if (problem := _problem(term))]
    found = [each for each in ranked if all(_finds(term, each) for term in wanted)]
    doubtful = hints(wanted, _KEYS, lambda term: any(_finds(term, each) for each in ranked))
    return IncidentList(
        paged([] if problems else found, asked.page, INCIDENTS_SHOWN),
        sum(each.is_open for each in ranked),
        problems + doubtful,
    )


def _problem(term: Term) -> str:
    choices = _CHOICES.get(term.key)
    if choices is None or all(part in choices for part in term.alternatives):
        return ""
    return f"{term.key}: needs one of {', '.join(choices)}."


def _finds(term: Term, incident: IncidentRecord) -> bool:
    """Words are parts of cluster and group; a comma behind a key is *or*."""
    if not term.key:
        found = term.fits(f"{incident.cluster}/{incident.group}")
    elif term.key in _CHOICES:
        found = _choice(term.key, incident) in term.alternatives
    else:
        found = term.fits(*_texts(term.key, incident))
    return found != term.is_excluded


def _choice(key: str, incident: IncidentRecord) -> str:
    if key == "is":
        return "open" if incident.is_open else "over"
    return incident.worst.lower()


def _texts(key: str, incident: IncidentRecord) -> tuple[str, ...]:
    if key == "cluster":
        return (incident.cluster,)
    if key == "group":
        return (incident.group,)
    cause = newest_cause(incident)
    found = cause.findings if cause else []
    return tuple(text for each in found for text in (each.name, each.sentence))
