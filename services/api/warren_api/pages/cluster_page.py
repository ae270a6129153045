"""The page of a cluster: how it stands with it, its past, its worst groups."""

from collections.abc import Callable

from fastapi import APIRouter, Request, Response

from warren_api.context import ApiContext
from warren_api.group_row import Asked
from warren_api.http.names import Segment
from warren_api.model.past import DAY_MS
from warren_api.pages.environment import status_of, template_of
from warren_api.pages.headline import no_groups
from warren_api.pages.span import SpanAsked
from warren_api.pages.trends import Trends
from warren_api.search import near_names

GROUPS_SHOWN = 20


def add_routes(
    routes: APIRouter,
    context: ApiContext,
    render: Callable[..., Response],
    asked: Callable[[], Asked],
    trends: Trends,
) -> None:
    @routes.get("/clusters/{cluster}")
    @routes.get("/fragments/clusters/{cluster}")
    def show(request: Request, cluster: Segment, span: SpanAsked) -> Response:
        ready = context.feed_state().ready
        now, about = context.clock.now_ms(), asked()
        rows = [about.row(view) for view in context.model.views_of(cluster)]
        totals = no_groups()
        for row in rows:
            totals[row.status] = totals.get(row.status, 0) + 1
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
