"""Burrow's HTTP API: health checks and version 3, as Burrow 1.9.5 answers.

Unlike Burrow, group names with `/` work when percent-encoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from warren_api import burrow_shapes as shapes
from warren_api.context import ApiContext
from warren_api.go_json import go_json
from warren_api.raw_path import Segment, decoded_path

TEXT = "text/plain; charset=utf-8"
UNKNOWN_URL = '{"error":true,"message":"invalid request type","result":{}}\n'


def json_response(body: Mapping[str, Any], status_code: int = 200) -> Response:
    return Response(go_json(body), status_code, media_type="application/json")


def go_text_error(
    text: str, status_code: int, headers: Mapping[str, str] | None = None
) -> Response:
    """What Go's http.Error sends."""
    return Response(text, status_code, headers, media_type=TEXT)


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    _health(routes, context)
    _kafka(routes, context)
    return routes


def _health(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("/burrow/admin")
    async def admin() -> Response:
        return Response("GOOD", media_type=TEXT)

    @routes.get("/burrow/admin/ready")
    async def ready() -> Response:
        if context.feed_state().ready:
            return Response("READY", media_type=TEXT)
        return Response("STARTING", 503, media_type=TEXT)


def _kafka(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("/v3/kafka")
    async def clusters(request: Request) -> Response:
        return json_response(shapes.cluster_list(context.clusters, decoded_path(request.scope)))

    @routes.get("/v3/kafka/{cluster}")
    async def cluster_detail(request: Request, cluster: Segment) -> Response:
        path = decoded_path(request.scope)
        if cluster not in context.clusters:
            return json_response(shapes.error("cluster module not found", path), 404)
        view = context.model.cluster(cluster, context.clock.now_ms())
        interval = context.settings.collector.interval
        body = shapes.cluster_detail(view, context.servers(cluster), interval, path)
        return json_response(body)

    @routes.get("/v3/kafka/{cluster}/consumer")
    async def consumers(request: Request, cluster: Segment) -> Response:
        path = decoded_path(request.scope)
        if cluster not in context.clusters:
            return json_response(shapes.error("cluster not found", path), 404)
        return json_response(shapes.consumer_list(context.model.groups_of(cluster), path))

    @routes.get("/v3/kafka/{cluster}/consumer/{group}/status")
    async def status(request: Request, cluster: Segment, group: Segment) -> Response:
        return _status(request, cluster, group, all_partitions=False)

    @routes.get("/v3/kafka/{cluster}/consumer/{group}/lag")
    async def lag(request: Request, cluster: Segment, group: Segment) -> Response:
        return _status(request, cluster, group, all_partitions=True)

    def _status(request: Request, cluster: str, group: str, *, all_partitions: bool) -> Response:
        view = context.model.group(cluster, group)
        status = (
            shapes.group_status(view, all_partitions=all_partitions)
            if view
            else shapes.group_not_found(cluster, group)
        )
        body = shapes.consumer_status(status, decoded_path(request.scope))
        return json_response(body, 200 if view else 404)
