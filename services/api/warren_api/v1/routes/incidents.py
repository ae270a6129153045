"""Incidents."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from warren_api.context import ApiContext
from warren_api.http.patterns import matcher
from warren_api.http.problem import ProblemKind, documented, problem
from warren_api.http.raw_path import Segment
from warren_api.model.incidents import IncidentRecord, incidents
from warren_api.v1.models import Incidents, IncidentView
from warren_api.v1.paging import Entry, Paging
from warren_api.v1.routes.answers import LIST_PROBLEMS, ListQuery, Regex, starting


class IncidentQuery(ListQuery):
    """Which incidents."""

    noun = "incidents"
    regex: Regex | None = Field(
        None, description="Only of groups in whose name this regular expression matches somewhere"
    )
    open: bool | None = Field(None, description="Only those that are open, or that are over")


def router(context: ApiContext, paging: Paging) -> APIRouter:
    routes = APIRouter(tags=["incidents"])

    def known() -> list[IncidentRecord]:
        return incidents(context.model.history.changes(), context.model.groups())

    @routes.get("/incidents", response_model=Incidents, responses=LIST_PROBLEMS)
    def all_incidents(query: Annotated[IncidentQuery, Query()]) -> Incidents | Response:
        """Incidents, newest first: all that are open, and those that are remembered."""
        if not_ready := starting(context):
            return not_ready
        matches = matcher(query.regex or "")
        entries = [
            Entry((each.id,), (-each.opened_at, each.id), each)
            for each in known()
            if query.cluster in (None, each.cluster)
            and query.open in (None, each.is_open)
            and matches(each.group)
        ]
        page = query.page(paging, entries)
        return Incidents(
            incidents=[IncidentView.of(each) for each in page.rows],
            next=page.next,
            total=page.total,
            remembered_since=min((c.at for c in context.model.history.changes()), default=None),
        )

    @routes.get(
        "/incidents/{id}",
        response_model=IncidentView,
        responses=documented(ProblemKind.INCIDENT_NOT_FOUND, ProblemKind.STARTING),
    )
    def incident(id: Segment) -> IncidentView | Response:  # noqa: A002  # the path's name
        """One incident with its status changes."""
        if not_ready := starting(context):
            return not_ready
        for each in known():
            if each.id == id:
                return IncidentView.of(each)
        return problem(ProblemKind.INCIDENT_NOT_FOUND, f"No incident {id} is remembered.")

    return routes
