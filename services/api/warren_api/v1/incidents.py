"""Incidents."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from warren.contracts import Acknowledgement
from warren.patterns import searcher
from warren_core.objectives.limits import ObjectiveBook

from warren_api.context import ApiContext
from warren_api.group_row import Present
from warren_api.http.access import asker
from warren_api.http.names import Segment
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.incidents import IncidentRecord
from warren_api.v1.group_parts import Incidents, IncidentView
from warren_api.v1.lists import (
    LIST_PROBLEMS,
    Entry,
    ListQuery,
    Regex,
    require_read,
    routes_of,
)
from warren_api.writing import NewAcknowledgement, acknowledge, find_incident, withdraw

CHANGES = documented(
    ProblemKind.INVALID_REQUEST,
    ProblemKind.ADMIN_NEEDED,
    ProblemKind.INCIDENT_NOT_FOUND,
    ProblemKind.INCIDENT_OVER,
    ProblemKind.NOT_WRITTEN,
    ProblemKind.MAYBE_WRITTEN,
    ProblemKind.STARTING,
)


class IncidentQuery(ListQuery):
    """Which incidents."""

    noun = "incidents"
    regex: Regex | None = Field(
        None, description="Only of groups in whose name this regular expression matches somewhere"
    )
    open: bool | None = Field(None, description="Only those that are open, or that are over")


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("incidents")

    book = ObjectiveBook(context.settings.objectives, context.settings.groups)

    def shown(
        incident: IncidentRecord, present: Present, said: Acknowledgement | None
    ) -> IncidentView:
        view = context.model.group(incident.cluster, incident.group) if incident.is_open else None
        seen = incident.as_seen(view, context.model.past)
        row = present.row(view) if view else None
        return IncidentView.of(seen, said, row, present.incident(incident, row))

    def present() -> Present:
        return Present.of(context, book)

    def remembered(id_: str) -> IncidentRecord:
        """Raise NotDone for one that is not."""
        require_read(context)
        if found := find_incident(context, id_):
            return found
        raise NotDone(ProblemKind.INCIDENT_NOT_FOUND, f"No incident {id_} is remembered.")

    @routes.get("/incidents", responses=LIST_PROBLEMS)
    def all_incidents(query: Annotated[IncidentQuery, Query()]) -> Incidents:
        """Incidents of groups, newest first: all that are open, and those that are remembered."""
        require_read(context)
        matches = searcher(query.regex or "")
        entries = [
            Entry((-each.opened_at, each.id), each)
            for each in context.model.incidents().all
            if query.cluster in (None, each.cluster)
            and query.open in (None, each.is_open)
            and matches(each.group)
        ]
        page, about = query.page(entries), present()
        said = about.notes.acknowledgement_among
        return Incidents(
            incidents=[shown(each, about, said(each.ids)) for each in page.rows],
            next=page.next,
            total=page.total,
            remembered_since=min((c.at for c in context.model.history.changes()), default=None),
        )

    @routes.get(
        "/incidents/{id}",
        responses=documented(ProblemKind.INCIDENT_NOT_FOUND, ProblemKind.STARTING),
    )
    def incident(id: Segment) -> IncidentView:  # noqa: A002  # the path's name
        """One incident of a group, by its id or a condition's, with all status changes."""
        incident, about = remembered(id), present()
        return shown(incident, about, about.notes.acknowledgement_among(incident.ids))

    @routes.post("/incidents/{id}/acknowledge", responses=CHANGES)
    async def look_after(
        request: Request,
        id: Segment,  # noqa: A002  # the path's name
        wanted: NewAcknowledgement | None = None,
    ) -> IncidentView:
        """Say that somebody looks after an open incident: it is not repeated any
        more. That it is worse, and its end, is told.
        """
        incident = remembered(id)
        if not incident.is_open:
            raise NotDone(ProblemKind.INCIDENT_OVER, f"Incident {id} has ended.")
        about = wanted or NewAcknowledgement()
        said = await acknowledge(context, incident, about, asker(request))
        return shown(incident, present(), said)

    @routes.delete("/incidents/{id}/acknowledge", responses=CHANGES)
    async def no_longer(id: Segment) -> IncidentView:  # noqa: A002  # the path's name
        """Say that nobody looks after an incident any more."""
        incident = remembered(id)
        await withdraw(context, incident)
        return shown(incident, present(), None)

    return routes
