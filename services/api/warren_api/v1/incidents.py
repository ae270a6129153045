"""Incidents."""

from typing import Annotated, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from warren.contracts import Acknowledgement, Condition, EventTypeName, GroupStatusName
from warren.patterns import searcher
from warren_core.objectives.limits import ObjectiveBook

from warren_api.context import ApiContext
from warren_api.group_row import GroupRow, Present, Shown
from warren_api.http.access import asker
from warren_api.http.names import Segment
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.incidents import IncidentRecord
from warren_api.v1.group_parts import ON_TYPE, AcknowledgementNote, FactView, RecordedVerdict
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


class IncidentNow(BaseModel):
    """How an open incident stands."""

    sentence: str | None = Field(description="What is wrong; null: nobody can say")
    said_at: int | None = Field(
        description="When `sentence` was said, where its figures are of then; null: of now"
    )
    action: str | None = Field(description="What to do; null: nobody can say")
    total_lag: int | None = Field(
        description="Of the group's newest evaluation, records; null: some partition's is unknown"
    )
    evaluated_at: int

    @classmethod
    def of(cls, shown: Shown, row: GroupRow) -> Self:
        root = next(iter(shown.problems), None)
        return cls(
            sentence=root[0].sentence if root else None,
            said_at=root[1] if root else None,
            action=next(iter(shown.standing.steps), None),
            total_lag=row.view.total_lag,
            evaluated_at=row.view.event.evaluated_at,
        )


class ConditionView(BaseModel):
    """One of the conditions of a group's incident: its events carry the condition's id."""

    id: str = Field(description="As `incident_id` of its status changes")
    type: EventTypeName = Field(description=ON_TYPE)
    open: bool
    opened_at: int
    closed_at: int | None = Field(description="null while it is open")
    status: GroupStatusName = Field(description="As it was last while it was open")
    worst: GroupStatusName

    @classmethod
    def of(cls, condition: Condition) -> Self:
        return cls(
            id=condition.incident_id,
            type=condition.type,
            open=condition.is_open,
            opened_at=condition.since,
            closed_at=condition.until,
            status=condition.change.status,
            worst=condition.worst,
        )


class IncidentView(BaseModel):
    """A time during which a group was not OK, or did not keep its objectives: from the first
    condition that opens to the last that ends.
    """

    id: str = Field(description="That of its first condition")
    type: EventTypeName = Field(description=f"{ON_TYPE}; of several the root")
    cluster: str
    group: str
    open: bool
    opened_at: int
    closed_at: int | None = Field(description="null while it is open")
    status: GroupStatusName = Field(
        description="The worst that is open; of one that is over the worst"
    )
    worst: GroupStatusName = Field(description="Worst status that is remembered of it")
    conditions: list[ConditionView] = Field(
        description="What it is about: open ones first, the root before what follows from it"
    )
    max_total_lag: int = Field(
        description="Largest lag of its status changes and, while it is open, of now"
    )
    acknowledgement: AcknowledgementNote | None = Field(
        description="Who looks after it; null: nobody has said so"
    )
    changes: list[RecordedVerdict] = Field(
        description="Status changes that are remembered, oldest first, each as it was told then"
    )
    now: IncidentNow | None = Field(
        description="How it stands; null: it is over, or nothing is known of the group"
    )
    lost_records: int | None = Field(
        description="The most that retention deleted unread, as told or seen; null: nothing",
    )
    short: str | None = Field(
        description="What is wrong, or was, in a few words; null: nobody can say",
    )
    why: str | None = Field(
        description="The same in sentences, the root first: as of now or, with the time, of then",
    )
    facts: list[FactView] = Field(
        description="How it stands, or how it ended, fact by fact, as pages and mails show it"
    )

    @classmethod
    def of(
        cls,
        incident: IncidentRecord,
        acknowledgement: Acknowledgement | None,
        row: GroupRow | None,
        shown: Shown,
    ) -> Self:
        """`row`: the group as it is now."""
        return cls(
            id=incident.id,
            type=incident.type,
            cluster=incident.cluster,
            group=incident.group,
            open=incident.is_open,
            opened_at=incident.opened_at,
            closed_at=incident.closed_at,
            status=incident.status,
            worst=incident.worst,
            conditions=[ConditionView.of(one) for one in incident.conditions],
            max_total_lag=incident.max_total_lag,
            acknowledgement=AcknowledgementNote.of(acknowledgement),
            changes=[RecordedVerdict.of(recorded) for recorded in incident.changes],
            now=IncidentNow.of(shown, row) if row and incident.is_open else None,
            lost_records=incident.lost_records,
            short=shown.short or None,
            why=shown.why or None,
            facts=[FactView(name=fact.name, value=fact.value) for fact in shown.facts],
        )


class Incidents(BaseModel):
    """Incidents, newest first."""

    incidents: list[IncidentView]
    next: str | None = Field(description="Cursor of the next page; null: this is the last one")
    total: int = Field(description="Incidents that match, on all pages")
    remembered_since: int | None = Field(
        description="Time of the oldest status change that is remembered; null: none is"
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
        seen = incident.as_seen(view)
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
        page, about = query.page(entries, context.clusters), present()
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
