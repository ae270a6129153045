"""All incidents that are remembered: which are shown, the open ones first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from warren_api.model.incidents import IncidentRecord
from warren_api.pages.list_view import ListView, Paged, paged
from warren_api.pages.timeline import newest_cause
from warren_api.search_terms import Term, hints, terms

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
    return f"{term.key}: is one of {', '.join(choices)}."


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
