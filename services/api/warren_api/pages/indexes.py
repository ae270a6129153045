"""Pages that list what there are few of: clusters, silences, notifications."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from fastapi import APIRouter, Response

from warren_api.context import ApiContext
from warren_api.group_row import Asked
from warren_api.model.notifications import newest_first
from warren_api.pages.environment import status_of
from warren_api.pages.headline import no_groups

SHOWN = 200


def add_routes(
    routes: APIRouter,
    context: ApiContext,
    render: Callable[..., Response],
    asked: Callable[[], Asked],
) -> None:
    @routes.get("/clusters")
    def clusters() -> Response:
        ready = context.feed_state().ready
        about = asked()
        rows = []
        for name in context.clusters:
            statuses = Counter(about.row(v).verdict.status for v in context.model.views_of(name))
            rows.append((context.model.cluster(name, about.now), no_groups() | statuses))
        return render("clusters.html", status_code=status_of(ready, ready=ready), rows=rows)

    @routes.get("/silences")
    def silences() -> Response:
        ready = context.feed_state().ready
        known, now = context.model.silences.all(), context.clock.now_ms()
        return render(
            "silences.html",
            status_code=status_of(ready, ready=ready),
            current=[each for each in known if each.ends_at > now],
            ended=[each for each in known if each.ends_at <= now][:SHOWN],
        )

    @routes.get("/notifications")
    def notifications() -> Response:
        ready = context.feed_state().ready
        return render(
            "notifications.html",
            status_code=status_of(ready, ready=ready),
            waiting=context.model.notifications.waiting()[:SHOWN],
            attempts=newest_first(context.model.notifications.attempts())[:SHOWN],
        )
