"""Clusters; topics and the groups that consume them."""

from collections import Counter
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from warren.patterns import searcher

from warren_api.context import ApiContext
from warren_api.http.names import Segment
from warren_api.http.problem import ProblemKind, documented
from warren_api.model.group import ShownStatusName
from warren_api.model.topics import LogRange, TopicProgress, TopicView
from warren_api.v1.lists import (
    LIST_PROBLEMS,
    Entry,
    Key,
    ListQuery,
    Regex,
    find_topic,
    largest_first,
    require_cluster,
    require_read,
    routes_of,
)


class ClusterSummary(BaseModel):
    """A monitored cluster."""

    cluster: str
    configured: bool = Field(description="Named in this API's settings")
    state: str = Field(
        description="Of its collectors, the one with the most trouble: ok, rebuilding, "
        "connecting, partial, failing, refused, unreachable; unknown: none is heard of"
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


def clusters_router(context: ApiContext) -> APIRouter:
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
        require_cluster(context.clusters, cluster)
        return summary(cluster)

    return routes


_RATE = "Records per second over about a minute; null until it was measured"


class TopicSummary(BaseModel):
    """A topic."""

    cluster: str
    topic: str
    partition_count: int
    group_count: int
    produce_rate: float | None = Field(description=_RATE)
    consume_rate: float | None = Field(description=f"Of all groups together. {_RATE}")
    max_lag: int | None = Field(
        description="Largest lag of a group, records; null: no group consumes it"
    )

    @classmethod
    def of(cls, view: TopicView) -> Self:
        return cls(
            cluster=view.cluster,
            topic=view.topic,
            partition_count=view.partition_count,
            group_count=len(view.groups),
            produce_rate=view.produce_rate,
            consume_rate=view.consume_rate,
            max_lag=view.max_lag,
        )


class Topics(BaseModel):
    """Topics, in the order that was asked for."""

    topics: list[TopicSummary]
    next: str | None = Field(description="Cursor of the next page; null: this is the last one")
    total: int = Field(description="Topics that match, on all pages")


class TopicPartition(BaseModel):
    """A partition's log, as it was last seen. Offsets that are unknown are null."""

    partition: int
    log_start: int | None
    log_end: int | None

    @classmethod
    def of(cls, log: LogRange) -> Self:
        return cls(partition=log.partition, log_start=log.log_start, log_end=log.log_end)


class TopicGroup(BaseModel):
    """A group that consumes the topic. `status` is the group's, whatever it is due to."""

    group: str
    status: ShownStatusName
    lag: int | None = Field(description="On this topic, records; null when unknown")
    consume_rate: float | None = Field(description=_RATE)
    partition_count: int
    evaluated_at: int

    @classmethod
    def of(cls, group: str, status: ShownStatusName, progress: TopicProgress) -> Self:
        return cls(
            group=group,
            status=status,
            lag=progress.lag,
            consume_rate=progress.consume_rate,
            partition_count=len(progress.columns.partition),
            evaluated_at=progress.at,
        )


class TopicDetail(TopicSummary):
    """A topic with its partitions, and the groups that consume it, by name."""

    partitions: list[TopicPartition]
    groups: list[TopicGroup]


class TopicQuery(ListQuery):
    """Which topics, in which order."""

    noun = "topics"
    regex: Regex | None = Field(
        None, description="Only topics in whose name this regular expression matches somewhere"
    )
    sort: Literal["name", "lag", "produce_rate", "consume_rate"] = Field(
        "name", description="By cluster and name, or the largest first, unknown ones last"
    )


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("topics")

    @routes.get("/topics", responses=LIST_PROBLEMS)
    def topics(query: Annotated[TopicQuery, Query()]) -> Topics:
        """Topics with the rates of producers and consumers."""
        require_read(context)
        matches = searcher(query.regex or "")
        rows = [
            TopicSummary.of(view)
            for view in context.model.topics.topics()
            if query.cluster in (None, view.cluster) and matches(view.topic)
        ]
        entries = [Entry((*_key(row, query.sort), row.cluster, row.topic), row) for row in rows]
        page = query.page(entries, context.clusters)
        return Topics(topics=page.rows, next=page.next, total=page.total)

    @routes.get(
        "/topics/{cluster}/{topic}",
        responses=documented(
            ProblemKind.CLUSTER_NOT_FOUND, ProblemKind.TOPIC_NOT_FOUND, ProblemKind.STARTING
        ),
    )
    def topic(cluster: Segment, topic: Segment) -> TopicDetail:
        """One topic with its partitions and the groups that consume it."""
        require_read(context)
        view = find_topic(context, cluster, topic)
        verdicts = context.verdicts()
        judged = {name: context.model.group(cluster, name) for name in sorted(view.groups)}
        return TopicDetail(
            **dict(TopicSummary.of(view)),
            partitions=[TopicPartition.of(log) for log in view.partitions()],
            groups=[
                TopicGroup.of(name, verdicts(group).status, view.groups[name])
                for name, group in judged.items()
                if group
            ],
        )

    return routes


def _key(row: TopicSummary, sort: str) -> Key:
    if sort == "name":
        return ()
    measures = {"lag": row.max_lag, "produce_rate": row.produce_rate}
    return largest_first(measures.get(sort, row.consume_rate))
