"""Incidents on pages: which are shown, the open ones first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from warren.contracts import MINUTE_MS, Cause

from warren_api.model.past import Past
from warren_api.model.status_history import IncidentRecord
from warren_api.pages.lists import ListView, Paged, paged
from warren_api.search import A_CAUSE, Key, Search, choice_of, text_of, texts_of


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


@dataclass(frozen=True)
class IncidentListView(ListView):
    """Which incidents are asked for."""

    path = "/incidents"


class IncidentSearch(Search[IncidentRecord]):
    """Words are parts of cluster and group."""

    keys: ClassVar[Mapping[str, Key[IncidentRecord]]] = {
        "cluster": text_of(lambda incident: (incident.cluster,)),
        "group": text_of(lambda incident: (incident.group,)),
        "cause": text_of(lambda incident: texts_of(newest_cause(incident)), A_CAUSE),
        "is": choice_of(
            {
                "open": lambda incident: incident.is_open,
                "over": lambda incident: not incident.is_open,
            }
        ),
        "status": choice_of(
            {
                "err": lambda incident: incident.worst == "ERR",
                "warn": lambda incident: incident.worst == "WARN",
            }
        ),
    }

    def words(self, row: IncidentRecord) -> str:
        return f"{row.cluster}/{row.group}"


def incident_list(
    known: Sequence[IncidentRecord], asked: IncidentListView
) -> tuple[Paged[IncidentRecord], list[str]]:
    """Open ones first; `known`: newest first. And what was, or may have been, not understood."""
    search = IncidentSearch(asked.q)
    found = sorted(filter(search.finds, known), key=lambda each: not each.is_open)
    shown = paged(found, asked.page, INCIDENTS_SHOWN)
    return shown, search.problems + search.hints(lambda: known)
