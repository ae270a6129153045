"""The ASGI application, put together from what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from warren_api.burrow import admin, config, v3
from warren_api.burrow import answers as burrow_errors
from warren_api.context import ApiContext
from warren_api.http.access import Access
from warren_api.http.access_control import AccessControl
from warren_api.http.errors import Errors
from warren_api.http.middleware import (
    Answering,
    Gate,
    Revalidation,
)
from warren_api.http.names import RawPathRouting
from warren_api.metrics import scrape
from warren_api.pages import routes as pages
from warren_api.pages.errors import PageErrors
from warren_api.v1 import (
    clusters,
    events,
    groups,
    history,
    incidents,
    notifications,
    openapi,
    silences,
    topics,
)
from warren_api.v1 import errors as v1_errors

if TYPE_CHECKING:
    from warren_api.login.service import Login


NOUNS = (clusters, groups, topics, history, incidents, notifications, silences, events)
"""Of `/api/v1`."""


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
    interfaces = (v3, config, admin, *NOUNS, scrape, pages)
    # As they are: included, all of them would be made once more.
    routers = [v1_errors.router(), *(each.router(context) for each in interfaces)]
    if login is not None:
        from warren_api.pages.login import router as login_pages  # with it come its libraries

        routers.append(login_pages(login))
    for router in routers:
        app.router.routes += router.routes
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
    app.add_middleware(AccessControl, access=access, refusal=errors.refusal, clock=context.clock)
    if login is not None:
        from starlette.middleware.sessions import SessionMiddleware  # likewise

        app.add_middleware(SessionMiddleware, **login.session_options())
    app.add_middleware(Gate, refusal=errors.refusal)
    if context.settings.api.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=context.settings.api.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Retry-After", "WWW-Authenticate"],
        )
    is_tls = bool(context.settings.api.tls_certificate)
    app.add_middleware(Answering, clock=context.clock, is_tls=is_tls)
    app.add_middleware(RawPathRouting)
    return app
