"""Pages that list what there are few of: clusters, silences, notifications."""

from collections import Counter
from collections.abc import Callable

from fastapi import APIRouter, Request, Response

from warren_api.context import ApiContext
from warren_api.group_row import Asked
from warren_api.model.notifications import newest_first
from warren_api.pages.environment import status_of, template_of
from warren_api.pages.headline import no_groups

SHOWN = 200


def add_routes(
    routes: APIRouter,
    context: ApiContext,
    render: Callable[..., Response],
    asked: Callable[[], Asked],
) -> None:
    @routes.get("/clusters")
    @routes.get("/fragments/clusters")
    def clusters(request: Request) -> Response:
        ready = context.feed_state().ready
        about = asked()
        rows = []
        known = [context.model.cluster(name, about.now) for name in context.clusters]
        for state in sorted(known, key=lambda state: state.rank):
            views = context.model.views_of(state.cluster)
            statuses = Counter(about.row(view).status for view in views)
            rows.append((state, no_groups() | statuses))
        return render(
            template_of(request, "clusters"),
            status_code=status_of(ready, ready=ready),
            rows=rows,
            unwell=sum(state.state != "ok" for state in known),
        )

    @routes.get("/silences")
    @routes.get("/fragments/silences")
    def silences(request: Request) -> Response:
        ready = context.feed_state().ready
        known, now = context.model.silences.all(), context.clock.now_ms()
        return render(
            template_of(request, "silences"),
            status_code=status_of(ready, ready=ready),
            current=[each for each in known if each.ends_at > now],
            ended=[each for each in known if each.ends_at <= now][:SHOWN],
        )

    @routes.get("/notifications")
    @routes.get("/fragments/notifications")
    def notifications(request: Request) -> Response:
        ready = context.feed_state().ready
        return render(
            template_of(request, "notifications"),
            status_code=status_of(ready, ready=ready),
            waiting=context.model.notifications.waiting()[:SHOWN],
            attempts=newest_first(context.model.notifications.attempts())[:SHOWN],
        )
