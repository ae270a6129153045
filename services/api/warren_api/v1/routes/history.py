"""The past of groups, topics and clusters."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from warren.contracts import MINUTE_MS

from warren_api.context import ApiContext
from warren_api.http.problem import ProblemKind, documented, problem
from warren_api.http.raw_path import Segment
from warren_api.model.past import Columns
from warren_api.model.period import (
    DAY_MS,
    HOUR_MS,
    Period,
    before_a_day,
    in_whole_steps,
    shortest_step,
)
from warren_api.v1.models import ClusterHistory, GroupHistory, TopicHistory
from warren_api.v1.routes.answers import starting, unknown_cluster

MOST_STEPS = 1500
LATEST = 2**53  # of numbers that JSON's readers know exactly
PROBLEMS = (ProblemKind.INVALID_REQUEST, ProblemKind.STARTING)
Time = Annotated[int, Field(ge=0, le=LATEST)]


class HistoryQuery(BaseModel):
    """Which time, how fine."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    from_: Time | None = Field(
        None, alias="from", description="Unix milliseconds; an hour before `to` unless it is said"
    )
    to: Time | None = Field(None, description="Unix milliseconds; now unless it is said")
    step: int | None = Field(
        None,
        ge=MINUTE_MS,
        le=DAY_MS,
        multiple_of=MINUTE_MS,
        description="Milliseconds, whole minutes; by default the shortest of a minute, 5 and 15 "
        f"minutes, an hour, 6 and 24 hours that gives at most {MOST_STEPS} steps",
    )


def period(query: HistoryQuery, now: int) -> Period | Response:
    """What was asked for, widened to whole steps; else what is wrong with it."""
    end = now if query.to is None else query.to
    start = max(end - HOUR_MS, 0) if query.from_ is None else query.from_
    if start >= end:
        return problem(ProblemKind.INVALID_REQUEST, "from: it is not before `to`.")
    step = query.step or shortest_step(end - start, MOST_STEPS)
    whole = in_whole_steps(start, end, step)
    if (whole.end - whole.start) // step > MOST_STEPS + 1:
        detail = f"step: more than {MOST_STEPS} steps. Ask for longer ones, or for less time."
        return problem(ProblemKind.INVALID_REQUEST, detail)
    return whole


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(tags=["history"])
    past = context.model.past

    def steps(
        cluster: str, asked: Period, found: Columns, doubt: str | None = None
    ) -> dict[str, Any]:
        """What all answers have in common, and the columns that were found."""
        doubts = context.doubts().of(cluster)
        return {
            **found,
            "cluster": cluster,
            "from": asked.start,
            "to": asked.end,
            "step": asked.step,
            "at": asked.steps,
            "doubts": doubts if doubt is None else [*doubts, doubt],
        }

    @routes.get(
        "/groups/{cluster}/{group}/history",
        response_model=GroupHistory,
        responses=documented(ProblemKind.GROUP_NOT_FOUND, *PROBLEMS),
    )
    def group_history(
        cluster: Segment, group: Segment, query: Annotated[HistoryQuery, Query()]
    ) -> GroupHistory | Response:
        """A consumer group minute by minute: the last 24 hours, and before, but for statuses and
        members, as far as the archive goes."""
        if not_ready := starting(context):
            return not_ready
        if not context.model.group(cluster, group) and not context.model.unjudged(cluster, group):
            return problem(
                ProblemKind.GROUP_NOT_FOUND,
                f"Cluster {cluster} has no consumer group {group} that Warren knows.",
            )
        asked = period(query, context.clock.now_ms())
        if isinstance(asked, Response):
            return asked
        found, doubt = past.group(cluster, group, *asked), None
        if older := before_a_day(asked, context.clock.now_ms()):
            doubt = context.archive.group(found, cluster, group, *older)
        return GroupHistory(group=group, **steps(cluster, asked, found, doubt))

    @routes.get(
        "/topics/{cluster}/{topic}/history",
        response_model=TopicHistory,
        responses=documented(ProblemKind.TOPIC_NOT_FOUND, *PROBLEMS),
    )
    def topic_history(
        cluster: Segment, topic: Segment, query: Annotated[HistoryQuery, Query()]
    ) -> TopicHistory | Response:
        """A topic minute by minute, as the groups that consume it saw it: the last 24 hours, and
        what was produced before, as far as the archive goes."""
        if not_ready := starting(context):
            return not_ready
        if context.model.topics.topic(cluster, topic) is None:
            return problem(
                ProblemKind.TOPIC_NOT_FOUND,
                f"Cluster {cluster} has no topic {topic} that Warren knows.",
            )
        asked = period(query, context.clock.now_ms())
        if isinstance(asked, Response):
            return asked
        found, doubt = past.topic(cluster, topic, *asked), None
        if older := before_a_day(asked, context.clock.now_ms()):
            doubt = context.archive.topic(found, cluster, topic, *older)
        return TopicHistory(topic=topic, **steps(cluster, asked, found, doubt))

    @routes.get(
        "/clusters/{cluster}/history",
        response_model=ClusterHistory,
        responses=documented(ProblemKind.CLUSTER_NOT_FOUND, *PROBLEMS),
    )
    def cluster_history(
        cluster: Segment, query: Annotated[HistoryQuery, Query()]
    ) -> ClusterHistory | Response:
        """All groups of a cluster minute by minute, the last 24 hours."""
        if not_ready := starting(context):
            return not_ready
        if cluster not in context.clusters:
            return unknown_cluster(cluster)
        asked = period(query, context.clock.now_ms())
        if isinstance(asked, Response):
            return asked
        return ClusterHistory(**steps(cluster, asked, past.cluster(cluster, *asked)))

    return routes
