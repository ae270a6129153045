"""A service's side door: `/metrics` for Prometheus, `/ready` and `/live` for orchestrators."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import structlog
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import make_wsgi_app

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from warren.errors import SettingsError

log = structlog.get_logger(__name__)

SILENT_SECONDS = 10.0  # without a byte from a client, or taken by it

Ready = Callable[[], bool | str]
"""A str says why not."""


class _Handler(WSGIRequestHandler):
    """Scrapes are not worth a log line."""

    timeout = SILENT_SECONDS

    def handle(self) -> None:
        with suppress(OSError):  # the client has gone, or took too long
            super().handle()

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each connection, which ends when its client is silent."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, application: WSGIApplication) -> None:
        host, port = listener.getsockname()[:2]
        super().__init__((host, port), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_name, self.server_port = host, port
        self.setup_environ()
        self.set_app(application)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """What a client does wrong is its own business, and no reason for a traceback each."""


def _application(registry: CollectorRegistry, ready: Ready) -> WSGIApplication:
    metrics: WSGIApplication = make_wsgi_app(registry)

    def application(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            return metrics(environ, start)
        if path == "/live":
            status, body = "200 OK", b"LIVE"
        elif path == "/ready":
            obstacle = ready()
            if obstacle is True:
                status, body = "200 OK", b"READY"
            else:
                status, body = "503 Service Unavailable", (obstacle or "STARTING").encode()
        else:
            status, body = "404 Not Found", b"/metrics, /ready, /live"
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [body]

    return application


def _listen(host: str, port: int) -> socket.socket:
    """On an address, a name, or with an empty host on all addresses of IPv4 and IPv6 there are."""
    if not host and socket.has_dualstack_ipv6():
        with suppress(OSError):  # compiled in, but switched off
            return socket.create_server(
                ("::", port), family=socket.AF_INET6, backlog=128, dualstack_ipv6=True
            )
    family, _, _, _, address = socket.getaddrinfo(
        host or "0.0.0.0", port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return socket.create_server((str(address[0]), port), family=family, backlog=128)


def serve(
    port: int,
    registry: CollectorRegistry,
    ready: Ready,
    *,
    setting: str = "metrics_port",
    host: str = "",
) -> Callable[[], None]:
    """Serves in a thread and returns how to stop it; does nothing when `port` is 0.

    `ready` gives True, False while starting, or the reason why the service is not ready.

    Raises SettingsError when the port is taken, or `host` is no address of this machine.
    """
    if port == 0:
        return lambda: None
    try:
        listener = _listen(host, port)
    except socket.gaierror as error:
        raise SettingsError("probe.host", f"{host}: {error.strerror}") from error
    except OSError as error:
        where = f"{host} port {port}" if host else f"port {port}"
        raise SettingsError(setting, f"cannot listen on {where}: {error.strerror}") from error
    server = _Server(listener, _application(registry, ready))
    thread = threading.Thread(target=server.serve_forever, name="probe", daemon=True)
    thread.start()
    log.info("serving metrics", host=host, port=port)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
