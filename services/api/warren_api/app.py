"""The ASGI application, put together from what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from warren_api.burrow import errors as burrow_errors
from warren_api.burrow import routes as burrow
from warren_api.context import ApiContext
from warren_api.http.access import Access
from warren_api.http.access_control import AccessControl
from warren_api.http.errors import Errors
from warren_api.http.headers import ResponseHeaders
from warren_api.http.limits import RequestLimits
from warren_api.http.places import InLine, Places
from warren_api.http.raw_path import RawPathRouting
from warren_api.http.request_metrics import RequestMetrics
from warren_api.http.revalidation import Revalidation
from warren_api.http.shared_fragments import SharedFragments
from warren_api.http.unread_bodies import UnreadBodies
from warren_api.metrics import routes as metrics
from warren_api.pages import routes as pages
from warren_api.pages.errors import PageErrors
from warren_api.v1 import errors as v1_errors
from warren_api.v1 import openapi
from warren_api.v1 import routes as v1

if TYPE_CHECKING:
    from warren_api.login.service import Login


def create_app(context: ApiContext, access: Access, login: Login | None = None) -> FastAPI:
    """Serves `context` to whom `access` allows. The feed is its owner's business. `login`: None
    where nobody logs in.
    """
    app = FastAPI(
        openapi_url=openapi.PATH,
        # Both would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for router in (burrow.router, v1.router, metrics.router, pages.router):
        app.include_router(router(context))
    if login is not None:
        from warren_api.pages.login import router as login_pages  # with it come its libraries

        app.include_router(login_pages(login))
    app.mount("/static", StaticFiles(directory=pages.STATIC), name="static")
    errors = Errors(
        {v1_errors.PREFIX: v1_errors, burrow_errors.PREFIX: burrow_errors},
        elsewhere=PageErrors(burrow_errors),
    )
    errors.install(app)
    v1_errors.install(app)
    openapi.install(app)
    # The last one added is the first to see a request.
    app.add_middleware(Revalidation)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(SharedFragments, state=context.shown_state, clock=context.clock)
    app.add_middleware(AccessControl, access=access, refusal=errors.refusal, clock=context.clock)
    app.add_middleware(RequestLimits, refusal=errors.refusal)
    app.add_middleware(InLine, places=Places(), refusal=errors.refusal)
    if context.settings.api.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=context.settings.api.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Retry-After", "WWW-Authenticate"],
        )
    app.add_middleware(RequestMetrics, clock=context.clock)
    app.add_middleware(ResponseHeaders, is_tls=bool(context.settings.api.tls_certificate))
    app.add_middleware(RawPathRouting)
    app.add_middleware(UnreadBodies)
    return app
