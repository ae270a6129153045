"""The ASGI application, put together from what it is given."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from warren_api import errors
from warren_api.context import ApiContext
from warren_api.raw_path import RawPathRouting
from warren_api.request_metrics import RequestMetrics
from warren_api.response_headers import ResponseHeaders
from warren_api.routes import (
    burrow_admin,
    burrow_config,
    burrow_deletion,
    burrow_v3,
    metrics,
    pages,
    v1,
)

STATIC = Path(__file__).parent / "static"


def create_app(context: ApiContext) -> FastAPI:
    """Serves `context`. Starting and stopping the feed is its owner's business."""
    app = FastAPI(
        title="Warren",
        summary="Kafka consumer groups, judged",
        version="1",
        openapi_url="/api/v1/openapi.json",
        # Both would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for module in (burrow_v3, burrow_config, burrow_admin, burrow_deletion, v1, metrics, pages):
        app.include_router(module.router(context))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    errors.install(app)
    # The last one added is the first to see a request.
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(RequestMetrics, clock=context.clock)
    app.add_middleware(ResponseHeaders)
    app.add_middleware(RawPathRouting)
    return app
