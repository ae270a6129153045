"""`/metrics`: Burrow's series, ours, and the API's own, in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from warren.metrics import api as metrics

from warren_api.context import ApiContext
from warren_api.exposition import encoded, gzipped
from warren_api.group_series import group_series


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    def chunks() -> Iterator[bytes]:
        yield generate_latest(metrics.API)
        yield from encoded(group_series(context))

    @routes.get("/metrics")
    def scrape(request: Request) -> Response:
        """Made and compressed in worker threads: a large scrape holds up no other request."""
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return StreamingResponse(chunks(), media_type=CONTENT_TYPE_LATEST)
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(gzipped(chunks()), headers=headers, media_type=CONTENT_TYPE_LATEST)

    return routes
