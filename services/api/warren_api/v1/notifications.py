"""Who was told what and when, and what waits to be told; silences: whoever may change something may
ask for one and end it.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Literal, Self
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from warren.contracts import (
    DeliveryKind,
    DeliveryOutcome,
    GroupStatusName,
    NotificationEvent,
    Silence,
)
from warren.contracts.silence import Owner, Person
from warren.patterns import searcher

from warren_api.context import ApiContext
from warren_api.http.access import asker
from warren_api.http.names import Segment
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.notifications import Waiting, newest_first
from warren_api.v1.lists import (
    LIST_PROBLEMS,
    Entry,
    ListQuery,
    Name,
    Regex,
    require_read,
    routes_of,
)
from warren_api.writing import (
    NewSilence,
    NewTest,
    begin_silence,
    end_silence,
    find_incident,
    test_route,
)


class SilenceView(Silence):
    """About these groups nobody is told anything for a while."""

    v: Literal[1, 2] = Field(1, exclude=True)
    owner: Owner = Field("", description="Only groups of this owner, later ones too; empty: all")
    in_force: bool = Field(description="Whether it holds now")
    ended_by: Person | None = Field(None, description="Who ended it early; null: nobody did")

    @classmethod
    def of(cls, silence: Silence, now: int) -> Self:
        return cls(**dict(silence), in_force=silence.holds_at(now))


class BegunSilence(SilenceView):
    """A silence that has just been asked for."""

    groups: int = Field(description="How many groups it is about, of those that there are now")


class Silences(BaseModel):
    """Silences, the newest first."""

    silences: list[SilenceView]


CHANGES = (
    ProblemKind.ADMIN_NEEDED,
    ProblemKind.NOT_WRITTEN,
    ProblemKind.MAYBE_WRITTEN,
    ProblemKind.STARTING,
)


class SilenceQuery(BaseModel):
    """Which silences."""

    model_config = ConfigDict(extra="forbid")

    in_force: bool | None = Field(None, description="Only those that hold now, or do not")


def silences_router(context: ApiContext) -> APIRouter:
    routes = routes_of("silences")

    def _remembered(id_: str) -> Silence:
        if silence := context.model.silences.silence(id_):
            return silence
        raise NotDone(ProblemKind.SILENCE_NOT_FOUND, f"No silence {id_} is remembered.")

    @routes.get(
        "/silences",
        responses=documented(ProblemKind.INVALID_REQUEST, ProblemKind.STARTING),
    )
    def silences(query: Annotated[SilenceQuery, Query()]) -> Silences:
        """Silences that hold, will hold or did, as long as they are remembered; newest first."""
        require_read(context)
        now = context.clock.now_ms()
        views = [SilenceView.of(silence, now) for silence in context.model.silences.all()]
        return Silences(silences=[v for v in views if query.in_force in (None, v.in_force)])

    @routes.get(
        "/silences/{id}",
        responses=documented(ProblemKind.SILENCE_NOT_FOUND, ProblemKind.STARTING),
    )
    def one(id: Segment) -> SilenceView:  # noqa: A002  # the path's name
        """One silence, as long as it is remembered."""
        require_read(context)
        return SilenceView.of(_remembered(id), context.clock.now_ms())

    @routes.post(
        "/silences",
        status_code=HTTPStatus.CREATED,
        responses=documented(ProblemKind.INVALID_REQUEST, *CHANGES),
    )
    async def begin(request: Request, wanted: NewSilence, answer: Response) -> BegunSilence:
        """Silence groups: they are judged and shown, but nobody is told of what begins. What is
        still so when the silence ends is told then; the end of what was told before is told at
        once.
        """
        require_read(context)
        silence, groups = await begin_silence(context, wanted, asker(request))
        answer.headers["Location"] = f"/api/v1/silences/{quote(silence.id, safe='')}"
        view = SilenceView.of(silence, context.clock.now_ms())
        return BegunSilence(**dict(view), groups=groups)

    @routes.delete(
        "/silences/{id}",
        responses=documented(ProblemKind.SILENCE_NOT_FOUND, *CHANGES),
    )
    async def end(request: Request, id: Segment) -> SilenceView:  # noqa: A002  # the path's name
        """End a silence now. One that is over already stays as it is."""
        require_read(context)
        ended = await end_silence(context, _remembered(id), asker(request))
        return SilenceView.of(ended, context.clock.now_ms())

    return routes


class NotificationView(NotificationEvent):
    """An attempt to tell somebody, or what became of a delivery without one."""

    v: Literal[1] = Field(1, exclude=True)
    digest: str | None = Field(None, exclude=True)
    conditions: list[str] = Field([], exclude=True)


class PendingView(BaseModel):
    """A delivery that has not come to its end."""

    cluster: str
    group: str
    incident_id: str
    event_id: str
    delivery_id: str
    kind: DeliveryKind
    status: GroupStatusName
    route: str
    channel: str
    since: int = Field(description="When it was decided, or a silence let it go")
    attempts: int = Field(description="Attempts made")
    next_attempt_at: int
    held: str | None = Field(description="Why it is put off, a silence or a mute window; or null")

    @classmethod
    def of(cls, waiting: Waiting) -> Self:
        pending = waiting.pending
        return cls(
            cluster=waiting.cluster,
            group=waiting.group,
            incident_id=pending.incident_id,
            event_id=pending.event_id,
            delivery_id=pending.delivery_id,
            kind=pending.kind,
            status=pending.status,
            route=pending.route,
            channel=pending.channel,
            since=pending.accepted_at,
            attempts=pending.attempts,
            next_attempt_at=pending.next_attempt_at,
            held=pending.held,
        )


class RouteTest(BaseModel):
    """A test of a route that has been asked for."""

    id: str
    route: str
    incident_id: str = Field(
        description="What comes of it is in notifications of this incident: on each channel an "
        "opening and its end"
    )


class Notifications(BaseModel):
    """Attempts, the newest first, and what waits, the oldest first."""

    notifications: list[NotificationView]
    next: str | None = Field(description="Cursor of the next page; null: this is the last one")
    total: int = Field(description="Attempts that match, on all pages")
    pending: list[PendingView] = Field(description="At most 1,000, on each page the same")
    pending_total: int


MOST_PENDING = 1000


class NotificationQuery(ListQuery):
    """Which attempts, and of `pending` what matches too."""

    noun = "notifications"
    regex: Regex | None = Field(
        None, description="Only of groups in whose name this regular expression matches somewhere"
    )
    incident: Name | None = Field(
        None, description="Only of this incident of a group, by its id or that of a condition"
    )
    channel: Name | None = Field(None, description="Only on this channel")
    outcome: DeliveryOutcome | None = Field(None, description="Only with this outcome")

    def wanted(self, context: ApiContext) -> Callable[[str, str, str, str], bool]:
        """Of (cluster, group, incident, channel)."""
        matches = searcher(self.regex or "")
        wanted = find_incident(context, self.incident) if self.incident is not None else None
        ids = wanted.ids if wanted is not None else [self.incident]
        return lambda cluster, group, incident, channel: (
            self.cluster in (None, cluster)
            and (self.incident is None or incident in ids)
            and self.channel in (None, channel)
            and matches(group)
        )


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("notifications")

    @routes.get("/notifications", responses=LIST_PROBLEMS)
    def notifications(query: Annotated[NotificationQuery, Query()]) -> Notifications:
        """Attempts to tell somebody, newest first, as many as are remembered; and what waits."""
        require_read(context)
        known, wanted = context.model.notifications, query.wanted(context)
        entries = [
            Entry((-e.at, a.partition, -a.offset), a)
            for a in newest_first(known.attempts())
            for e in [a.event]
            if query.outcome in (None, e.outcome)
            and wanted(e.cluster, e.group, e.incident_id, e.channel)
        ]
        page = query.page(entries, context.clusters)
        pending = [
            one
            for one in known.waiting()
            if wanted(one.cluster, one.group, one.pending.incident_id, one.pending.channel)
        ]
        return Notifications(
            notifications=[NotificationView(**dict(attempt.event)) for attempt in page.rows],
            next=page.next,
            total=page.total,
            pending=[PendingView.of(one) for one in pending[:MOST_PENDING]],
            pending_total=len(pending),
        )

    @routes.post(
        "/notifications/test",
        responses=documented(
            ProblemKind.INVALID_REQUEST,
            ProblemKind.ADMIN_NEEDED,
            ProblemKind.NOT_WRITTEN,
            ProblemKind.MAYBE_WRITTEN,
        ),
    )
    async def try_out(request: Request, wanted: NewTest) -> RouteTest:
        """Have a notifier tell the channels of a route of an incident that there is not, and of
        its end: whatever the route is for, and whatever is silenced.
        """
        test = await test_route(context, wanted, asker(request))
        return RouteTest(id=test.id, route=test.route, incident_id=test.incident_id)

    return routes
