"""Clusters."""

from collections import Counter

from fastapi import APIRouter
from pydantic import BaseModel, Field

from warren_api.context import ApiContext
from warren_api.http.names import Segment
from warren_api.http.problem import ProblemKind, documented
from warren_api.v1.lists import require_cluster, require_read, routes_of


class ClusterSummary(BaseModel):
    """A monitored cluster."""

    cluster: str
    configured: bool = Field(description="Named in this API's settings")
    state: str = Field(
        description="Of its collectors, the one with the most trouble: ok, rebuilding, "
        "connecting, failing, refused, unreachable; unknown: none is heard of"
    )
    state_since: int | None
    problem: str | None = Field(
        description="What the trouble is, or on which topics which right is missing"
    )
    groups: int = Field(description="Groups that are judged")
    status_counts: dict[str, int] = Field(
        description="Groups by status, as it is to be believed now"
    )
    losing: int = Field(
        description="Groups of which records were deleted before they were consumed"
    )
    endangered: int = Field(
        description="Groups that lose nothing yet but will within the hour, before they catch up"
    )
    not_judged: int = Field(description="Share groups, and groups without a commit")
    topics: int = Field(
        description="Also those that no group consumes, where the collector lists them"
    )
    partitions: int = Field(description="Partitions of all groups")
    total_lag: int | None = Field(
        description="Sum of the groups' lags, records; null: that of some group is unknown"
    )
    total_lag_at_least: int | None = Field(
        description="What total_lag is at least, where it is unknown; else null"
    )
    evaluated_at: int | None = Field(description="When a group of it was last judged")


class Clusters(BaseModel):
    """All clusters that are configured or that events have come from, by name."""

    clusters: list[ClusterSummary]
    doubts: list[str] = Field(description="Why this may not be how things are; empty when it is")


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("clusters")

    def summary(cluster: str) -> ClusterSummary:
        views, verdicts = context.model.views_of(cluster), context.verdicts()
        state = context.model.cluster(cluster, context.clock.now_ms())
        is_unknown = any(view.total_lag is None for view in views)
        least_lag = sum(view.event.total_lag for view in views)
        return ClusterSummary(
            cluster=cluster,
            configured=cluster in context.settings.clusters,
            state=state.state,
            state_since=state.since,
            problem=state.problem or state.refusal or None,
            groups=len(views),
            status_counts={"ERR": 0, "WARN": 0, "UNKNOWN": 0, "OK": 0}
            | Counter(verdicts(view).status for view in views),
            losing=sum(view.data_loss == "now" for view in views),
            endangered=sum(view.data_loss == "soon" for view in views),
            not_judged=sum(each.cluster == cluster for each in context.model.not_judged()),
            topics=len(context.model.topics.names(cluster)),
            partitions=sum(view.partition_count for view in views),
            total_lag=None if is_unknown else least_lag,
            total_lag_at_least=least_lag if is_unknown else None,
            evaluated_at=max((view.event.evaluated_at for view in views), default=None),
        )

    @routes.get("/clusters", responses=documented(ProblemKind.STARTING))
    def clusters() -> Clusters:
        """All clusters that are configured or that events have come from, by name."""
        require_read(context)
        return Clusters(
            clusters=[summary(cluster) for cluster in context.clusters],
            doubts=context.doubts().of(None),
        )

    @routes.get(
        "/clusters/{cluster}",
        responses=documented(ProblemKind.CLUSTER_NOT_FOUND, ProblemKind.STARTING),
    )
    def cluster(cluster: Segment) -> ClusterSummary:
        """One cluster."""
        require_read(context)
        require_cluster(context, cluster)
        return summary(cluster)

    return routes
