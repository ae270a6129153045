"""uvicorn as this service runs it: each step of a connection has its time.

uvicorn waits for ever for a request that is never sent to its end, and for a client that takes no
answer. When there are too many connections, the one that has waited longest for its request gives
way to the new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any

import h11
import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from warren.metrics import api as metrics
from warren.settings import ApiSettings

HEAD_SECONDS = 5.0  # for request line and headers
BODY_SECONDS = 10.0
WRITE_SECONDS = 30.0  # without the client taking anything of an answer that waits for it
LARGEST_HEAD = 32 * 1024  # bytes
RESERVED = 256  # file descriptors for all else: Kafka, files
SHUTDOWN_SECONDS = 5
THREADS = 8
"""That answer, those included that stream answers to clients that have begun to take them."""

_quiet = logging.getLogger("uvicorn.protocol")  # what clients do wrong is no line of ours
_quiet.setLevel(logging.ERROR)


def most_connections(wanted: int) -> int:
    """As many as there are file descriptors for; their limit is raised if it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    needed = wanted + RESERVED
    soft = max(soft, needed if hard == resource.RLIM_INFINITY else min(needed, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(min(wanted, soft - RESERVED), 1)


class Connection(H11Protocol):
    """One client's connection. `waiting`: those whose request is not whole, oldest first."""

    def __init__(self, most: int, waiting: dict[Connection, None], **named: Any) -> None:
        super().__init__(**named)
        self.logger = _quiet
        self._most = most
        self._waiting = waiting
        self._step = ""
        self._timer: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # narrower, as in uvicorn
        super().connection_made(transport)
        if len(self.connections) > self._most:
            next(iter(self._waiting), self)._give_up("crowded_out")
        self._enter("head", HEAD_SECONDS)
        metrics.API_CONNECTIONS.set(len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        self.resume_writing()
        super().connection_lost(exc)
        metrics.API_CONNECTIONS.set(len(self.connections))

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note(is_sending=True)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note(is_sending=bool(self.conn.trailing_data[0]))

    def send_400_response(self, msg: str) -> None:
        """The request is malformed: in its head, or in a body that is being answered already."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()
        request = vars(self)["cycle"]  # None before the first one, which uvicorn's types do not say
        if request is not None and not request.response_complete:
            request.disconnected = True  # what a route still answers goes nowhere
            request.message_event.set()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._taking is None:
            self._taking = self.loop.call_later(WRITE_SECONDS, self._give_up, "slow_reader")

    def resume_writing(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None
        super().resume_writing()

    def _note(self, *, is_sending: bool) -> None:
        """Where the client's request stands now. uvicorn closes what is kept alive and idle."""
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY and not self.transport.is_closing():
            self._enter("body", BODY_SECONDS)
        elif theirs is not h11.IDLE or self.transport.is_closing():
            self._leave()
        elif is_sending:
            self._enter("head", HEAD_SECONDS)
        else:
            self._waiting[self] = None

    def _enter(self, step: str, seconds: float) -> None:
        """Its time runs from the first byte of the step on."""
        if self._step != step:
            self._leave()
            self._step = step
            self._timer = self.loop.call_later(seconds, self._give_up, f"slow_{step}")
        self._waiting[self] = None

    def _leave(self) -> None:
        self._waiting.pop(self, None)
        self._step = ""
        if self._timer is not None:
            self._timer.cancel()

    def _give_up(self, reason: str) -> None:
        """Close it at once: a client that does not send would not take an answer either."""
        if not self.transport.is_closing():
            metrics.API_CONNECTIONS_CLOSED.labels(reason).inc()
            self._waiting.pop(self, None)
            self.transport.abort()


class HttpServer(uvicorn.Server):
    """Ends when `should_exit` is set; signals are its owner's business."""

    def __init__(self, app: ASGIApp, api: ApiSettings) -> None:
        protocol = partial(Connection, most_connections(api.connections), {})
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol,  # type: ignore[arg-type]  # it makes one, as a class does
                ws="none",
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

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        current_default_thread_limiter().total_tokens = THREADS

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Who has connected meanwhile, or does not take its answer, is not waited for."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # they are closed then
