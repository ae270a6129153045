"""uvicorn as this service runs it: sockets that let many wait, connections that have limits."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp
from warren.clock import Clock
from warren.settings import ApiSettings

from warren_api.http.connections import AT_ONCE, LARGEST_HEAD, Connections, most_connections

SHUTDOWN_SECONDS = 5
LISTEN_BACKLOG = 2048
"""Clients that the system lets wait until they are accepted. It drops whoever comes beyond that,
and they come again after a second at the earliest."""
THREADS = 8
"""That answer, those included that stream answers to clients that have begun to take them."""


class HttpServer(uvicorn.Server):
    """Ends when `should_exit` is set; signals are its owner's business."""

    def __init__(self, app: ASGIApp, api: ApiSettings, clock: Clock) -> None:
        connections = Connections(most_connections(api.connections), clock)
        super().__init__(
            uvicorn.Config(
                app,
                http=connections.protocol,  # type: ignore[arg-type]  # it makes one, as a class does
                ws="none",
                backlog=AT_ONCE,
                h11_max_incomplete_event_size=LARGEST_HEAD,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
                ssl_certfile=api.tls_certificate or None,
                ssl_keyfile=api.tls_key or None,
                ssl_keyfile_password=api.tls_key_password.get_secret_value() or None,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn's own would end the process by the signal."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Who has connected meanwhile, or does not take its answer, is not waited for."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # they are closed then

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        current_default_thread_limiter().total_tokens = THREADS
        for listener in sockets or ():
            # asyncio has made its backlog what it accepts in one go; it may be more.
            listener.listen(LISTEN_BACKLOG)
