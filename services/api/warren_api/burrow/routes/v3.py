"""Burrow's HTTP API, version 3, as Burrow 1.9.5 answers: clusters, topics and consumer groups.

Unlike Burrow, group names with `/` work when percent-encoded.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from warren_api.burrow import shapes
from warren_api.burrow.answers import answer, error_response
from warren_api.burrow.routes.config import cluster_detail
from warren_api.context import ApiContext
from warren_api.http.raw_path import Segment

CLUSTER_NOT_FOUND = "cluster not found"


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(prefix="/v3/kafka", include_in_schema=False)
    _clusters(routes, context)
    _topics(routes, context)
    _consumers(routes, context)
    _statuses(routes, context)
    return routes


def _clusters(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("")
    async def clusters(request: Request) -> Response:
        return answer(request, "cluster list returned", clusters=context.clusters)

    @routes.get("/{cluster}")
    async def cluster(request: Request, cluster: Segment) -> Response:
        view = context.model.cluster(cluster, context.clock.now_ms())
        return cluster_detail(request, context, cluster, state=shapes.cluster_state(view))


def _topics(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("/{cluster}/topic")
    def topics(request: Request, cluster: Segment) -> Response:
        if cluster not in context.clusters:
            return error_response(request, 404, CLUSTER_NOT_FOUND)
        names = context.model.topics.names(cluster)
        return answer(request, "topic list returned", topics=names)

    @routes.get("/{cluster}/topic/{topic}")
    def topic(request: Request, cluster: Segment, topic: Segment) -> Response:
        view = context.model.topics.topic(cluster, topic)
        if view is None:
            return error_response(request, 404, "cluster or topic not found")
        return answer(request, "topic offsets returned", offsets=view.log_ends())

    @routes.get("/{cluster}/topic/{topic}/consumers")
    def topic_consumers(request: Request, cluster: Segment, topic: Segment) -> Response:
        if cluster not in context.clusters:
            return error_response(request, 404, CLUSTER_NOT_FOUND)
        view = context.model.topics.topic(cluster, topic)
        groups = sorted(view.groups) if view else []
        return answer(request, "consumers of topic returned", consumers=groups)


def _consumers(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("/{cluster}/consumer")
    def consumers(request: Request, cluster: Segment) -> Response:
        if cluster not in context.clusters:
            return error_response(request, 404, CLUSTER_NOT_FOUND)
        groups = context.model.groups_of(cluster)
        return answer(request, "consumer list returned", consumers=groups)

    @routes.get("/{cluster}/consumer/{group}")
    def consumer(request: Request, cluster: Segment, group: Segment) -> Response:
        view = context.model.group(cluster, group)
        if view is None:
            return error_response(request, 404, "cluster or consumer not found")
        return answer(request, "consumer detail returned", topics=shapes.group_detail(view))


def _statuses(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("/{cluster}/consumer/{group}/status")
    def status(request: Request, cluster: Segment, group: Segment) -> Response:
        return _status(request, cluster, group, all_partitions=False)

    @routes.get("/{cluster}/consumer/{group}/lag")
    def lag(request: Request, cluster: Segment, group: Segment) -> Response:
        return _status(request, cluster, group, all_partitions=True)

    def _status(request: Request, cluster: str, group: str, *, all_partitions: bool) -> Response:
        """A group that is not found is a status, not an error."""
        view = context.model.group(cluster, group)
        found = (
            shapes.group_status(view, all_partitions=all_partitions)
            if view
            else shapes.group_not_found(cluster, group)
        )
        response = answer(request, "consumer status returned", status=found)
        response.status_code = 200 if view else 404
        return response
