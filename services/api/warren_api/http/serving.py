"""uvicorn as this service runs it: sockets that let many wait, connections that have limits.

uvicorn waits for ever for a request that is never sent to its end, and the process runs out of file
descriptors. Here each step has its time, and when there are too many connections the one that has
waited longest for its request gives way, or the one whose client takes no answer, so that whoever
sends one whole and takes what it gets is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any

import h11
import structlog
import uvicorn
from anyio.to_thread import current_default_thread_limiter
from h11._receivebuffer import ReceiveBuffer, blank_line_regex
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from warren.clock import Clock
from warren.metrics import api as metrics
from warren.request_head import FaultyHead, require_sound
from warren.settings import ApiSettings

from warren_api.http.callers import Shares, site_of

log = structlog.get_logger(__name__)

HEAD_SECONDS = 5.0  # for request line and headers
BODY_SECONDS = 10.0
WRITE_SECONDS = 30.0  # without the client taking anything of an answer that waits for it
LARGEST_HEAD = 32 * 1024  # bytes
AT_ONCE = 128  # connections accepted in one go, before any of them can give way
RESERVED = 128  # file descriptors for all else: Kafka, files
TELL_EVERY = 60.0  # seconds between lines about connections that were closed

_quiet = logging.getLogger("uvicorn.protocol")  # what clients do wrong is counted, not logged
_quiet.setLevel(logging.ERROR)


def most_connections(wanted: int) -> int:
    """As many as there are file descriptors for; their limit is raised if it may be."""
    needed = wanted + AT_ONCE + RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            log.warning(
                "fewer connections than api.connections: too few file descriptors", soft=soft
            )
    return (
        wanted if soft == resource.RLIM_INFINITY else max(min(wanted, soft - AT_ONCE - RESERVED), 1)
    )


class Connections:
    """All connections of the process. Used by the event loop only."""

    def __init__(self, most: int, clock: Clock) -> None:
        self._most = most
        self._clock = clock
        self._open = Shares[Connection]()
        self._waiting: dict[Connection, None] = {}  # for a request to be whole; oldest first
        self._stuck: dict[Connection, None] = {}  # the client does not take an answer; likewise
        self._closed: Counter[str] = Counter()
        self._told_at = -TELL_EVERY

    def opened(self, connection: Connection, address: str | None) -> None:
        """Makes room for it: what waits longest for its request gives way, else the client that has
        longest not taken its answer, else the newest of the address that has most, else this one.
        """
        site, gives_way = site_of(address), None
        if len(self._open) >= self._most:
            gives_way = next(iter(self._waiting), None) or next(iter(self._stuck), None)
            gives_way = gives_way or self._open.crowding(site) or connection
        self._open.add(site, connection)
        self._waiting[connection] = None
        if gives_way is not None:
            gives_way.give_up("crowded_out")
        metrics.API_CONNECTIONS.set(len(self._open))

    def waits(self, connection: Connection, *, is_waiting: bool) -> None:
        if not is_waiting:
            self._waiting.pop(connection, None)
        elif connection in self._open and connection not in self._waiting:
            self._waiting[connection] = None

    def takes(self, connection: Connection, *, is_taking: bool) -> None:
        if is_taking:
            self._stuck.pop(connection, None)
        elif connection in self._open:
            self._stuck[connection] = None

    def gone(self, connection: Connection) -> None:
        self._open.remove(connection)
        self._stuck.pop(connection, None)
        self._waiting.pop(connection, None)
        metrics.API_CONNECTIONS.set(len(self._open))

    def count(self, reason: str) -> None:
        """A connection was closed on a client; told at most once a minute."""
        metrics.API_CONNECTIONS_CLOSED.labels(reason).inc()
        self._closed[reason] += 1
        now = self._clock.monotonic()
        if now - self._told_at >= TELL_EVERY:
            self._told_at = now
            log.warning("connections closed", open=len(self._open), **self._closed)
            self._closed.clear()

    def protocol(self, *arguments: Any, **named: Any) -> Connection:
        """What uvicorn makes for each connection."""
        return Connection(self, *arguments, **named)


class _Received(ReceiveBuffer):
    """What h11 has received: it reads heads more generously than Warren does."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        if not self._data.startswith((b"\r\n", b"\n")):  # of no line at all, which h11 refuses
            whole = blank_line_regex.search(self._data, self._multiple_lines_search)
            if whole:
                try:
                    require_sound(bytes(self._data[: whole.end()]))
                except FaultyHead as fault:
                    raise h11.LocalProtocolError(str(fault)) from None
        return super().maybe_extract_lines()


class Connection(H11Protocol):
    """One client's connection."""

    def __init__(self, connections: Connections, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.logger = _quiet
        self.conn._receive_buffer = _Received()
        self._connections = connections
        self._step: asyncio.TimerHandle | None = None
        self._step_name = ""
        self._taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._enter("head", HEAD_SECONDS)
        self._connections.opened(self, self.client[0] if self.client else None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        self.resume_writing()
        self._connections.gone(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note(is_sending=True)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note(is_sending=bool(self.conn.trailing_data[0]))

    def _note(self, *, is_sending: bool) -> None:
        """Where the client's request stands now."""
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY and not self.transport.is_closing():
            self._enter("body", BODY_SECONDS)
        elif theirs is not h11.IDLE or self.transport.is_closing():
            self._leave()
        elif is_sending:
            self._enter("head", HEAD_SECONDS)
        else:  # kept alive: uvicorn closes it when nothing more comes
            self._connections.waits(self, is_waiting=True)

    def send_400_response(self, msg: str) -> None:
        """The request is malformed: in its head, or in a body that is being answered already."""
        self._connections.count("malformed")
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
        self._connections.takes(self, is_taking=False)
        if self._taking is None:
            self._taking = self.loop.call_later(WRITE_SECONDS, self.give_up, "slow_reader")

    def resume_writing(self) -> None:
        self._connections.takes(self, is_taking=True)
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None
        super().resume_writing()

    def give_up(self, reason: str) -> None:
        """Closes it at once: a client that does not send would not take an answer either."""
        if not self.transport.is_closing():
            self._connections.count(reason)
            self._connections.gone(self)
            self.transport.abort()

    def _enter(self, step: str, seconds: float) -> None:
        """The step of a request that the client is at: its time runs from the first byte on."""
        self._connections.waits(self, is_waiting=True)
        if self._step is not None and self._step_name == step:
            return
        if self._step is not None:
            self._step.cancel()
        self._step_name = step
        self._step = self.loop.call_later(seconds, self.give_up, f"slow_{step}")

    def _leave(self) -> None:
        """The request is whole."""
        self._connections.waits(self, is_waiting=False)
        if self._step is not None:
            self._step.cancel()
            self._step = None


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
