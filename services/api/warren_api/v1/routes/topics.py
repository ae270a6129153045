"""Topics and the groups that consume them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from warren_api.context import ApiContext
from warren_api.http.patterns import matcher
from warren_api.http.problem import ProblemKind, documented, problem
from warren_api.http.raw_path import Segment
from warren_api.v1.models import TopicDetail, TopicGroup, TopicPartition, Topics, TopicSummary
from warren_api.v1.paging import Entry, Key, Paging, largest_first
from warren_api.v1.routes.answers import LIST_PROBLEMS, ListQuery, Regex, starting


class TopicQuery(ListQuery):
    """Which topics, in which order."""

    noun = "topics"
    regex: Regex | None = Field(
        None, description="Only topics in whose name this regular expression matches somewhere"
    )
    sort: Literal["name", "lag", "produce_rate", "consume_rate"] = Field(
        "name", description="By cluster and name, or the largest first, unknown ones last"
    )


def router(context: ApiContext, paging: Paging) -> APIRouter:
    routes = APIRouter(tags=["topics"])

    @routes.get("/topics", response_model=Topics, responses=LIST_PROBLEMS)
    def topics(query: Annotated[TopicQuery, Query()]) -> Topics | Response:
        """Topics with the rates of producers and consumers."""
        if not_ready := starting(context):
            return not_ready
        matches = matcher(query.regex or "")
        rows = [
            TopicSummary.of(view)
            for view in context.model.topics.topics()
            if query.cluster in (None, view.cluster) and matches(view.topic)
        ]
        entries = [
            Entry((row.cluster, row.topic), (*_key(row, query.sort), row.cluster, row.topic), row)
            for row in rows
        ]
        page = query.page(paging, entries)
        return Topics(topics=page.rows, next=page.next, total=page.total)

    @routes.get(
        "/topics/{cluster}/{topic}",
        response_model=TopicDetail,
        responses=documented(ProblemKind.TOPIC_NOT_FOUND, ProblemKind.STARTING),
    )
    def topic(cluster: Segment, topic: Segment) -> TopicDetail | Response:
        """One topic with its partitions and the groups that consume it."""
        if not_ready := starting(context):
            return not_ready
        view = context.model.topics.topic(cluster, topic)
        if view is None:
            return problem(
                ProblemKind.TOPIC_NOT_FOUND,
                f"Cluster {cluster} has no topic {topic} that Warren knows.",
            )
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
