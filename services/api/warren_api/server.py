"""The ASGI application, put together from what it is given, and how it is run with uvicorn: a
listening socket, signals, one feed.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

import structlog
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from warren.clock import Clock, SystemClock
from warren.errors import SettingsError
from warren.garbage import collect_seldom
from warren.metrics import api as metrics
from warren.service import stop_by_signal
from warren.settings import ApiSettings, Settings
from warren.standstill import StandstillWatch

from warren_api.burrow import answers as burrow_errors, config, v3
from warren_api.context import ApiContext
from warren_api.home.cluster import HomeWriter
from warren_api.home.feed import Feed, PastFeed
from warren_api.http.access import Access
from warren_api.http.access_control import AccessControl
from warren_api.http.errors import Errors
from warren_api.http.middleware import (
    Answering,
    Gate,
    Revalidation,
)
from warren_api.http.names import RawPathRouting
from warren_api.http.serving import HttpServer
from warren_api.metrics import scrape
from warren_api.model.archive import Archive
from warren_api.model.read_model import ReadModel
from warren_api.pages import routes as pages
from warren_api.pages.errors import PageErrors
from warren_api.v1 import (
    errors as v1_errors,
    events,
    groups,
    history,
    incidents,
    notifications,
    openapi,
    topics,
)

if TYPE_CHECKING:
    from warren_api.login.service import Login

INTERFACES = (
    v3.router,
    config.router,
    config.admin_router,
    topics.clusters_router,
    groups.router,
    topics.router,
    history.router,
    incidents.router,
    notifications.router,
    notifications.silences_router,
    events.router,
    scrape.router,
    pages.router,
)


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
    # As they are: included, all of them would be made once more.
    routers = [v1_errors.router(), *(interface(context) for interface in INTERFACES)]
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


log = structlog.get_logger(__name__)


def listen(api: ApiSettings) -> socket.socket:
    """A listening socket.

    Raises SettingsError when the address cannot be had, naming the setting.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            api.host, api.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise SettingsError("api.host", f"{api.host}: {error.strerror}") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        raise SettingsError(
            "api.port",
            f"cannot listen on {api.host}:{api.port}: {error.strerror}; "
            "choose another with WARREN_API__PORT",
        ) from None
    return listener


def check_tls(api: ApiSettings) -> None:
    """Raises SettingsError when certificate and key cannot be used."""
    if not api.tls_certificate:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            api.tls_certificate, api.tls_key, api.tls_key_password.get_secret_value
        )
    except OSError as error:  # SSLError is one: no PEM, another key, a wrong password
        problem = getattr(error, "reason", None) or error.strerror
        raise SettingsError(
            "api.tls_certificate",
            f"{api.tls_certificate} and {api.tls_key} cannot be used: {problem}",
        ) from None


def login_of(api: ApiSettings, clock: Clock) -> Login | None:
    """None where nobody logs in, and then without what it needs. Raises SettingsError."""
    if api.oidc is None:
        return None
    from warren_api.login.service import Login

    return Login(api.oidc, clock)


def run(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT.

    Raises SettingsError for an address that cannot be had or would be open to everyone or a
    connection that cannot be made, and whatever ended the feed.
    """
    check_tls(settings.api)
    collect_seldom()
    with listen(settings.api) as listener:
        is_loopback = ip_address(listener.getsockname()[0]).is_loopback
        clock = SystemClock()
        login = login_of(settings.api, clock)
        access = Access(settings.api, is_loopback=is_loopback, sessions=login)
        if access.reads_under_any_name:
            log.warning(
                "a page of another site may read, under a name of its own that points here: "
                "name this API's in api.trusted_hosts"
            )
        asyncio.run(_serve(settings, access, login, listener, clock))


async def _serve(
    settings: Settings,
    access: Access,
    login: Login | None,
    listener: socket.socket,
    clock: Clock,
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    fatal: list[Exception] = []

    def end_with(error: Exception) -> None:
        fatal.append(error)
        loop.call_soon_threadsafe(stop.set)

    model = ReadModel(now_ms=clock.now_ms)
    feed = Feed(settings.home, model, clock, end_with)
    past = PastFeed(settings.home, model.past, clock)
    watch = StandstillWatch(
        settings.standstill, {"feed": feed.turns.look}, metrics.API_STALLED, clock
    )
    context = ApiContext(
        settings,
        model,
        lambda: replace(feed.state, standstill=watch.reason),
        clock,
        HomeWriter(settings.home).write,
        Archive(settings.archiver),
    )
    app = create_app(context, access, login)
    server = HttpServer(app, settings.api)
    stop_by_signal(partial(loop.call_soon_threadsafe, stop.set))
    host, port = listener.getsockname()[:2]
    scheme = "https" if settings.api.tls_certificate else "http"
    log.info("listening", address=f"{scheme}://{host}:{port}")
    feed.start()
    past.start()
    with watch:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    model.history.close()
    server.should_exit = True
    await serving
    await asyncio.to_thread(feed.stop)
    await asyncio.to_thread(past.stop)
    context.archive.close()
    log.info("stopped")
    if fatal:
        raise fatal[0]
