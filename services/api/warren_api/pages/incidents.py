"""Incidents on pages: which are shown, the open ones first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import MINUTE_MS, Cause

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
