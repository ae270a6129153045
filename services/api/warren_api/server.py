"""Running the application with uvicorn: a listening socket, signals, one feed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator

import structlog
import uvicorn
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.settings import ApiSettings, Settings

from warren_api.app import create_app
from warren_api.context import ApiContext
from warren_api.feed import Feed
from warren_api.read_model import ReadModel
from warren_api.requests import Requests

log = structlog.get_logger(__name__)

SHUTDOWN_SECONDS = 5


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling, which would end the process by the signal."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


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
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise SettingsError(
            "api.port",
            f"cannot listen on {api.host}:{api.port}: {error.strerror}; "
            "choose another with WARREN_API__PORT",
        ) from None
    return listener


def run(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT.

    Raises SettingsError for an address that cannot be had or a connection that cannot be made,
    and whatever ended the feed.
    """
    with listen(settings.api) as listener:
        asyncio.run(_serve(settings, listener))


async def _serve(settings: Settings, listener: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    fatal: list[Exception] = []

    def end_with(error: Exception) -> None:
        fatal.append(error)
        loop.call_soon_threadsafe(stop.set)

    model, clock = ReadModel(), SystemClock()
    feed = Feed(settings.home, model, clock, end_with)
    app = create_app(
        ApiContext(settings, model, lambda: feed.state, clock, Requests(settings.home))
    )
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    host, port = listener.getsockname()[:2]
    log.info("listening", address=f"http://{host}:{port}")
    feed.start()
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    server.should_exit = True
    await serving
    await asyncio.to_thread(feed.stop)
    log.info("stopped")
    if fatal:
        raise fatal[0]
