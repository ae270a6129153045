"""Clusters."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter, Response

from warren_api.context import ApiContext
from warren_api.http.problem import ProblemKind, documented
from warren_api.http.raw_path import Segment
from warren_api.v1.models import Clusters, ClusterSummary
from warren_api.v1.routes.answers import starting, unknown_cluster


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(tags=["clusters"])

    def summary(cluster: str) -> ClusterSummary:
        views, verdicts = context.model.views_of(cluster), context.verdicts()
        state = context.model.cluster(cluster, context.clock.now_ms())
        return ClusterSummary(
            cluster=cluster,
            configured=cluster in context.settings.clusters,
            state=state.state,
            state_since=state.since,
            problem=state.problem or None,
            groups=len(views),
            status_counts={"ERR": 0, "WARN": 0, "UNKNOWN": 0, "OK": 0}
            | Counter(verdicts(view).status for view in views),
            losing=sum(view.lost_records > 0 for view in views),
            endangered=sum(view.is_losing and not view.lost_records for view in views),
            not_judged=sum(each.cluster == cluster for each in context.model.not_judged()),
            topics=len(context.model.topics.names(cluster)),
            partitions=sum(view.partition_count for view in views),
            total_lag=sum(view.event.total_lag for view in views),
            evaluated_at=max((view.event.evaluated_at for view in views), default=None),
        )

    @routes.get("/clusters", response_model=Clusters, responses=documented(ProblemKind.STARTING))
    def clusters() -> Clusters | Response:
        """All clusters that are configured or that events have come from, by name."""
        return starting(context) or Clusters(
            clusters=[summary(cluster) for cluster in context.clusters],
            doubts=context.doubts().of(None),
        )

    @routes.get(
        "/clusters/{cluster}",
        response_model=ClusterSummary,
        responses=documented(ProblemKind.CLUSTER_NOT_FOUND, ProblemKind.STARTING),
    )
    def cluster(cluster: Segment) -> ClusterSummary | Response:
        """One cluster."""
        if not_ready := starting(context):
            return not_ready
        if cluster not in context.clusters:
            return unknown_cluster(cluster)
        return summary(cluster)

    return routes
