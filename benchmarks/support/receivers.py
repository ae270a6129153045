"""Receivers of webhooks and mails that behave as they are told and note what comes."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from warren_local.server import HOST, free_port

Answer = Callable[[], int]
"""An HTTP status; 0 for none at all."""


@dataclass(frozen=True, slots=True)
class Request:
    """`at`: monotonic seconds. `answer` is what it was answered with.

    `delivery_id`: empty but for signed webhooks.
    """

    at: float
    delivery_id: str
    body: bytes
    answer: int


class Webhooks:
    """One receiver of webhooks. `open` and `shut` let connections in, or not."""

    def __init__(self, loop: asyncio.AbstractEventLoop, answer: Answer) -> None:
        self.port = free_port()
        self.requests: list[Request] = []
        self._loop = loop
        self._answer = answer
        self._server: asyncio.Server | None = None
        self.open()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/"

    def open(self) -> None:
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(30)

    def shut(self) -> None:
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result(30)

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST, self.port)

    async def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            lines = (line.partition(":") for line in head[1:])
            headers = {name.lower(): value.strip() for name, _, value in lines}
            body = await reader.readexactly(int(headers["content-length"]))
            answer = self._answer()
            one = Request(time.monotonic(), headers.get("webhook-id", ""), body, answer)
            self.requests.append(one)
            if answer:
                writer.write(f"HTTP/1.1 {answer} -\r\ncontent-length: 0\r\n\r\n".encode())
                await writer.drain()
            else:
                await reader.read()  # until the other side gives up
        writer.close()


@contextmanager
def webhook_receivers(**answers: Answer) -> Iterator[dict[str, Webhooks]]:
    """By name; all in one thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    receivers = {name: Webhooks(loop, answer) for name, answer in answers.items()}
    try:
        yield receivers
    finally:
        for receiver in receivers.values():
            receiver.shut()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def takes_all() -> int:
    return 204
