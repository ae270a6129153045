"""Pages of what there are few of: clusters, and how it stands with one, its past and its worst
groups; silences, notifications.
"""

from collections import Counter
from collections.abc import Callable

from fastapi import APIRouter, Request, Response

from warren_api.context import ApiContext
from warren_api.group_row import Asked
from warren_api.http.names import Segment
from warren_api.model.notifications import newest_first
from warren_api.model.past import DAY_MS
from warren_api.pages.environment import status_of, template_of
from warren_api.pages.headline import no_groups
from warren_api.pages.span import SpanAsked
from warren_api.pages.trends import Trends
from warren_api.search import near_names

SHOWN = 200
GROUPS_SHOWN = 20


def add_routes(
    routes: APIRouter,
    context: ApiContext,
    render: Callable[..., Response],
    asked: Callable[[], Asked],
    trends: Trends,
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

    @routes.get("/clusters/{cluster}")
    @routes.get("/fragments/clusters/{cluster}")
    def show(request: Request, cluster: Segment, span: SpanAsked) -> Response:
        ready = context.feed_state().ready
        now, about = context.clock.now_ms(), asked()
        rows = [about.row(view) for view in context.model.views_of(cluster)]
        totals = no_groups() | Counter(row.status for row in rows)
        bad = sorted((row for row in rows if row.kind != "ok"), key=lambda row: row.rank)
        is_known = cluster in context.clusters
        incidents = [one for one in context.model.incidents().all if one.cluster == cluster]
        return render(
            template_of(request, "cluster"),
            cluster,
            status_of(is_known, ready=ready),
            is_known=is_known,
            near=[] if is_known else near_names(cluster, context.clusters),
            state=context.model.cluster(cluster, now),
            totals=totals,
            groups=len(rows),
            lag=sum(row.view.event.total_lag for row in rows),
            is_all_lag=all(row.view.total_lag is not None for row in rows),
            partitions=sum(row.view.partition_count for row in rows),
            topics=len(context.model.topics.names(cluster)),
            incidents_open=sum(one.is_open for one in incidents),
            incidents_begun=sum(one.opened_at > now - DAY_MS for one in incidents),
            rows=bad[:GROUPS_SHOWN],
            bad=len(bad),
            trends=trends.cluster(cluster, span.at(now)),
            ready=ready,
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
