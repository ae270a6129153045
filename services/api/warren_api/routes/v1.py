"""Our own API, version 1."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from warren_api.context import ApiContext
from warren_api.problem import Problem, problem
from warren_api.raw_path import Segment
from warren_api.v1_models import GroupDetail, Groups, GroupSummary

_PROBLEM: dict[str, Any] = {
    "model": Problem,
    "content": {"application/problem+json": {}},
}


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(prefix="/api/v1", tags=["groups"])

    def starting() -> Response | None:
        """An empty answer while the topics are still being read would be a wrong one."""
        if context.feed_state().ready:
            return None
        detail = " ".join(context.doubts())
        return problem(503, "Starting", detail, headers={"Retry-After": "1"})

    @routes.get("/groups", response_model=Groups, responses={503: _PROBLEM})
    def groups() -> Groups | Response:
        """All consumer groups: first those that lose data, then worst first."""
        return starting() or Groups(
            groups=[
                GroupSummary.of(view, stale=context.is_freshness_stale(view))
                for view in context.model.groups()
            ],
            doubts=context.doubts(),
        )

    @routes.get(
        "/groups/{cluster}/{group}",
        response_model=GroupDetail,
        responses={404: _PROBLEM, 503: _PROBLEM},
    )
    def group(cluster: Segment, group: Segment) -> GroupDetail | Response:
        """One consumer group with its partitions."""
        if not_ready := starting():
            return not_ready
        view = context.model.group(cluster, group)
        if view is None:
            detail = f"Cluster {cluster} has no consumer group {group} that Warren knows."
            return problem(404, "Consumer group not found", detail)
        return GroupDetail.of(view, stale=context.is_freshness_stale(view))

    return routes
