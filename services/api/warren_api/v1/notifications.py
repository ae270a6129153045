"""Who was told what and when, and what waits to be told."""

from collections.abc import Callable
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from warren.contracts import DeliveryKind, DeliveryOutcome, GroupStatusName, NotificationEvent
from warren.patterns import searcher

from warren_api.asked import NewTest, find_incident, test_route
from warren_api.context import ApiContext
from warren_api.http.access import asker
from warren_api.http.problem import ProblemKind, documented
from warren_api.model.notifications import Waiting, newest_first
from warren_api.v1.group_parts import same
from warren_api.v1.lists import (
    LIST_PROBLEMS,
    Entry,
    ListQuery,
    Name,
    Regex,
    require_read,
    routes_of,
)


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
        own = {"since": waiting.pending.accepted_at}
        return cls(**same(cls, waiting.pending) | same(cls, waiting) | own)


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
        asked = find_incident(context, self.incident) if self.incident is not None else None
        ids = asked.ids if asked is not None else [self.incident]
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
        page = query.page(entries)
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
