"""Who was told what and when, and what waits to be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from warren.contracts import DeliveryOutcome
from warren.errors import KafkaError

from warren_api.asked import NewTest, test_route
from warren_api.context import ApiContext
from warren_api.http.callers import asker
from warren_api.http.patterns import matcher
from warren_api.http.problem import ProblemKind, documented
from warren_api.model.notifications import newest_first
from warren_api.v1.models import Notifications, NotificationView, PendingView, RouteTest
from warren_api.v1.paging import Entry, Paging
from warren_api.v1.routes.answers import (
    LIST_PROBLEMS,
    ListQuery,
    Name,
    Regex,
    not_written,
    starting,
)

MOST_PENDING = 1000


class NotificationQuery(ListQuery):
    """Which attempts, and of `pending` what matches too."""

    noun = "notifications"
    regex: Regex | None = Field(
        None, description="Only of groups in whose name this regular expression matches somewhere"
    )
    incident: Name | None = Field(None, description="Only of this incident")
    channel: Name | None = Field(None, description="Only on this channel")
    outcome: DeliveryOutcome | None = Field(None, description="Only with this outcome")

    def wanted(self) -> Callable[[str, str, str, str], bool]:
        """Of (cluster, group, incident, channel)."""
        matches = matcher(self.regex or "")
        return lambda cluster, group, incident, channel: (
            self.cluster in (None, cluster)
            and self.incident in (None, incident)
            and self.channel in (None, channel)
            and matches(group)
        )


def router(context: ApiContext, paging: Paging) -> APIRouter:
    routes = APIRouter(tags=["notifications"])

    @routes.get("/notifications", response_model=Notifications, responses=LIST_PROBLEMS)
    def notifications(query: Annotated[NotificationQuery, Query()]) -> Notifications | Response:
        """Attempts to tell somebody, newest first, as many as are remembered; and what waits."""
        if not_ready := starting(context):
            return not_ready
        known, wanted = context.model.notifications, query.wanted()
        entries = [
            Entry((f"{a.partition}:{a.offset}",), (-e.at, a.partition, -a.offset), a)
            for a in newest_first(known.attempts())
            for e in [a.event]
            if query.outcome in (None, e.outcome)
            and wanted(e.cluster, e.group, e.incident_id, e.channel)
        ]
        page = query.page(paging, entries)
        pending = [
            one
            for one in known.waiting()
            if wanted(one.cluster, one.group, one.pending.incident_id, one.pending.channel)
        ]
        return Notifications(
            notifications=[NotificationView.of(attempt) for attempt in page.rows],
            next=page.next,
            total=page.total,
            pending=[PendingView.of(one) for one in pending[:MOST_PENDING]],
            pending_total=len(pending),
        )

    @routes.post(
        "/notifications/test",
        response_model=RouteTest,
        responses=documented(
            ProblemKind.INVALID_REQUEST, ProblemKind.ADMIN_NEEDED, ProblemKind.NOT_WRITTEN
        ),
    )
    async def try_out(request: Request, wanted: NewTest) -> RouteTest | Response:
        """Have a notifier tell the channels of a route of an incident that there is not, and of
        its end: whatever the route is for, and whatever is silenced.
        """
        try:
            test = await test_route(context, wanted, asker(request))
        except KafkaError as error:
            return not_written(error)
        return RouteTest(id=test.id, route=test.route, incident_id=test.incident_id)

    return routes
