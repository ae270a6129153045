"""The past of a group, a topic or a cluster, in columns."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from warren.contracts import MINUTE_MS

from warren_api.context import ApiContext
from warren_api.http.names import Segment
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.archive import LongPast
from warren_api.model.past import (
    DAY_MS,
    HOUR_MS,
    Columns,
    Period,
    before_a_day,
    in_whole_steps,
    shortest_step,
)
from warren_api.v1.lists import find_group, find_topic, require_cluster, require_read, routes_of

Count = list[int | None]
_LATE = "Age of the oldest record not consumed, at least: the greatest of the step"
_LOSS = "Until retention may delete a record not consumed: the least of the step"


class Steps(BaseModel):
    """Columns, one entry a step, oldest first; null where nothing is known."""

    model_config = ConfigDict(populate_by_name=True)

    cluster: str
    from_: int = Field(alias="from", description="Begin of the first step")
    to: int = Field(description="End of the last step")
    step: int = Field(description="Length of each step, milliseconds")
    at: list[int] = Field(description="Begin of each step")
    doubts: list[str] = Field(description="Why some of it is not known")


class GroupHistory(Steps):
    """A group's."""

    group: str
    ok_ms: Count = Field(
        description="How long it was OK. With the other statuses less than `step` "
        "where nobody knows the rest; null where only the archive remembers"
    )
    warn_ms: Count
    err_ms: Count
    lag: Count = Field(description="At the end of the step, records")
    lag_max: Count = Field(description="The greatest of the step, records")
    late_ms: Count = Field(description=_LATE)
    time_to_loss_ms: Count = Field(description=_LOSS)
    produced: Count = Field(description="Records")
    consumed: Count = Field(description="Records")
    members: Count = Field(description="At the end of the step")
    rebalances: Count = Field(description="Seen in the step")


class TopicHistory(Steps):
    """A topic's, as the groups that consume it saw it."""

    topic: str
    lag_max: Count = Field(description="Of the group that is furthest behind, records")
    late_ms: Count = Field(description=_LATE)
    produced: Count = Field(description="Records")
    consumed: Count = Field(description="Records, of all groups together")


class ClusterHistory(Steps):
    """A cluster's, all groups together."""

    ok_ms: Count = Field(description="How long groups were OK, added up")
    warn_ms: Count
    err_ms: Count
    lag: Count = Field(description="At the end of the step, records")
    late_ms: Count = Field(description=_LATE)
    time_to_loss_ms: Count = Field(description=_LOSS)
    consumed: Count = Field(description="Records")


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


def period(query: HistoryQuery, now: int) -> Period:
    """What was asked for, widened to whole steps. Raise NotDone where that is nothing."""
    end = now if query.to is None else query.to
    start = max(end - HOUR_MS, 0) if query.from_ is None else query.from_
    if start >= end:
        raise NotDone(ProblemKind.INVALID_REQUEST, "from: it is not before `to`.")
    step = query.step or shortest_step(end - start, MOST_STEPS)
    whole = in_whole_steps(start, end, step)
    if (whole.end - whole.start) // step > MOST_STEPS + 1:
        detail = f"step: more than {MOST_STEPS} steps. Ask for longer ones, or for less time."
        raise NotDone(ProblemKind.INVALID_REQUEST, detail)
    return whole


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("history")
    long = LongPast(context.model.past, context.archive)

    def steps(
        cluster: str, span: Period, found: Columns, doubt: str | None = None
    ) -> dict[str, Any]:
        """What all answers have in common, and the columns that were found."""
        doubts = context.doubts().of(cluster)
        return {
            **found,
            "cluster": cluster,
            "from": span.start,
            "to": span.end,
            "step": span.step,
            "at": span.steps,
            "doubts": doubts if doubt is None else [*doubts, doubt],
        }

    @routes.get(
        "/groups/{cluster}/{group}/history",
        responses=documented(ProblemKind.CLUSTER_NOT_FOUND, ProblemKind.GROUP_NOT_FOUND, *PROBLEMS),
    )
    def group_history(
        cluster: Segment, group: Segment, query: Annotated[HistoryQuery, Query()]
    ) -> GroupHistory:
        """A consumer group minute by minute: the last 24 hours, and before, but for statuses and
        members, as far as the archive goes."""
        require_read(context)
        find_group(context, cluster, group)
        span = period(query, context.clock.now_ms())
        now = context.clock.now_ms()
        known = long.group(cluster, group, span, before_a_day(span, now), now)
        return GroupHistory(group=group, **steps(cluster, span, *known))

    @routes.get(
        "/topics/{cluster}/{topic}/history",
        responses=documented(ProblemKind.CLUSTER_NOT_FOUND, ProblemKind.TOPIC_NOT_FOUND, *PROBLEMS),
    )
    def topic_history(
        cluster: Segment, topic: Segment, query: Annotated[HistoryQuery, Query()]
    ) -> TopicHistory:
        """A topic minute by minute, as the groups that consume it saw it: the last 24 hours, and
        what was produced before, as far as the archive goes."""
        require_read(context)
        find_topic(context, cluster, topic)
        span = period(query, context.clock.now_ms())
        now = context.clock.now_ms()
        known = long.topic(cluster, topic, span, before_a_day(span, now), now)
        return TopicHistory(topic=topic, **steps(cluster, span, *known))

    @routes.get(
        "/clusters/{cluster}/history",
        responses=documented(ProblemKind.CLUSTER_NOT_FOUND, *PROBLEMS),
    )
    def cluster_history(
        cluster: Segment, query: Annotated[HistoryQuery, Query()]
    ) -> ClusterHistory:
        """All groups of a cluster minute by minute, the last 24 hours."""
        require_read(context)
        require_cluster(context.clusters, cluster)
        span = period(query, context.clock.now_ms())
        return ClusterHistory(**steps(cluster, span, context.model.past.cluster(cluster, *span)))

    return routes
