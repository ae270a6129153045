"""A service's side door: `/metrics` for Prometheus, `/ready` and `/live` for orchestrators."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, make_server

import structlog
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import ThreadingWSGIServer, make_wsgi_app

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from warren.errors import SettingsError

log = structlog.get_logger(__name__)


class _Quiet(WSGIRequestHandler):
    """Scrapes are not worth a log line."""

    def log_message(self, *_: object) -> None:
        pass


Ready = Callable[[], bool | str]
"""A str says why not."""


def _application(registry: CollectorRegistry, ready: Ready) -> WSGIApplication:
    metrics: WSGIApplication = make_wsgi_app(registry)

    def application(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            return metrics(environ, start)
        if path == "/live":
            status, body = "200 OK", b"LIVE"
        elif path == "/ready":
            status, body = _readiness(ready())
        else:
            status, body = "404 Not Found", b"/metrics, /ready, /live"
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [body]

    return application


def _readiness(ready: bool | str) -> tuple[str, bytes]:
    if ready is True:
        return "200 OK", b"READY"
    return "503 Service Unavailable", (ready or "STARTING").encode()


def serve(
    port: int,
    registry: CollectorRegistry,
    ready: Ready,
    *,
    setting: str = "metrics_port",
    host: str = "0.0.0.0",
) -> Callable[[], None]:
    """Serves in a thread and returns how to stop it; does nothing when `port` is 0.

    `ready` gives True, False while starting, or the reason why the service is not ready.

    Raises SettingsError when the port is taken.
    """
    if port == 0:
        return lambda: None
    try:
        server = make_server(
            host, port, _application(registry, ready), ThreadingWSGIServer, handler_class=_Quiet
        )
    except OSError as error:
        raise SettingsError(setting, f"cannot listen on port {port}: {error.strerror}") from error
    thread = threading.Thread(target=server.serve_forever, name="probe", daemon=True)
    thread.start()
    log.info("serving metrics", port=port)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
