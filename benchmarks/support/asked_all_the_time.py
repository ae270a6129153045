"""How long a server lets somebody wait who asks it all the time, and a server that does nothing
else: beside one that is attacked it tells what of a wait is the machine's.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

EVERY_SECONDS = 0.05
GIVEN_UP_SECONDS = 30.0
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nREADY"
_BACKLOG = 2048
_spawning = multiprocessing.get_context("spawn")


class AskedAllTheTime:
    """Over a new connection each time, from a process of its own; `waited`: how long, seconds."""

    def __init__(self, url: str) -> None:
        self._ours, theirs = _spawning.Pipe()
        self._process = _spawning.Process(target=_ask, args=(url, theirs))
        self.waited: list[float] = []

    def __enter__(self) -> AskedAllTheTime:
        self._process.start()
        self._ours.recv()  # it has begun
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.send(None)
        self.waited = sorted(self._ours.recv())
        self._process.join()


@contextmanager
def bare_server() -> Iterator[str]:
    """One that answers whatever it is asked at once: its address, until the end of the block."""
    ours, theirs = _spawning.Pipe()
    process = _spawning.Process(target=_serve, args=(theirs,))
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/"
    finally:
        process.terminate()
        process.join()


def _ask(url: str, told: Connection) -> None:
    waited: list[float] = []
    told.send(None)
    while not told.poll(EVERY_SECONDS):
        began = time.monotonic()
        is_answered = _is_answered(url)
        waited.append(time.monotonic() - began if is_answered else GIVEN_UP_SECONDS)
    told.send(waited)


def _is_answered(url: str) -> bool:
    where = urlsplit(url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=GIVEN_UP_SECONDS)
    try:
        with suppress(OSError, HTTPException):
            connection.request("GET", where.path)
            return connection.getresponse().status == 200
        return False
    finally:
        connection.close()


def _serve(told: Connection) -> None:
    asyncio.run(_answer_all(told))


async def _answer_all(told: Connection) -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=_BACKLOG)
    told.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_ANSWER)
        await writer.drain()
    writer.close()
