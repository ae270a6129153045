"""Clients that do their worst to the API, and what becomes of their requests."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import httpx
from support.open_tabs import open_tabs
from support.served_groups import CLUSTER, ServedApi

COSTLY = "/api/v1/groups?regex=(.{1,60}){16}x"
SEARCHES = "/fragments/groups?q=" + "+".join(f"-word{n}" for n in range(30))
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = WHOLE.removesuffix(b"\r\n") + b"X-Slow: "
EVENTS = b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
DAY_MS = 86_400_000
YEARS = f"/history?to={1_500 * DAY_MS}&from=0&step={DAY_MS}"
GZIP = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}
Outcomes = Counter[str]
Attack = Callable[[ServedApi, float], Outcomes]


def _nobody(_: ServedApi, seconds: float) -> Outcomes:
    time.sleep(seconds)
    return Counter()


def _holding(count: int, sent: bytes, dripped: bytes = b"") -> Attack:
    """So many connections, on each this is sent, and then that each second; nothing is read."""

    def attack(api: ServedApi, seconds: float) -> Outcomes:
        url, outcomes = urlsplit(api.url), Outcomes()
        deadline = time.monotonic() + seconds
        with ExitStack() as closing:
            held: list[socket.socket] = []
            for _ in range(count):
                connection = closing.enter_context(socket.socket())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
                connection.settimeout(30)
                held.append(connection)
                connection.connect((url.hostname, url.port))
                with suppress(OSError):
                    connection.sendall(sent)
            while time.monotonic() < deadline:
                time.sleep(1)
                for connection in held if dripped else ():
                    with suppress(OSError):
                        connection.sendall(dripped)
            for connection in held:
                outcomes[_state(connection)] += 1
        return outcomes

    return attack


def _state(connection: socket.socket) -> str:
    connection.setblocking(False)
    try:
        return "answered" if connection.recv(100) else "closed"
    except BlockingIOError:
        return "open"
    except OSError:
        return "closed"


def _asking(path: str, clients: int, headers: dict[str, str] = GZIP) -> Attack:
    """So many ask for it again and again. What they get they do not even decompress."""

    async def ask(client: httpx.AsyncClient, deadline: float, outcomes: Outcomes) -> None:
        while time.monotonic() < deadline:
            async with client.stream("GET", path, headers=headers) as answer:
                async for _ in answer.aiter_raw():
                    pass
            outcomes[str(answer.status_code)] += 1

    def attack(api: ServedApi, seconds: float) -> Outcomes:
        return asyncio.run(_together(api, seconds, clients, ask))

    return attack


async def _together(
    api: ServedApi,
    seconds: float,
    clients: int,
    ask: Callable[[httpx.AsyncClient, float, Outcomes], Awaitable[None]],
) -> Outcomes:
    outcomes, deadline = Outcomes(), time.monotonic() + seconds
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=api.url, limits=limits, timeout=120) as client:
        await asyncio.gather(*(ask(client, deadline, outcomes) for _ in range(clients)))
    return outcomes


def _tabs(api: ServedApi, seconds: float) -> Outcomes:
    """500 of them, each of which shows the overview."""
    return Outcomes(answered=len(open_tabs(api, "/fragments/groups", 500, seconds).waited))


def _streams(api: ServedApi, _: float) -> Outcomes:
    """10,000 attempts to follow events, 500 at a time; those who may stay do."""
    return asyncio.run(_attempts(api, 10_000, 500))


async def _attempts(api: ServedApi, count: int, at_once: int) -> Outcomes:
    url, outcomes, places = urlsplit(api.url), Outcomes(), asyncio.Semaphore(at_once)
    staying: list[asyncio.StreamWriter] = []

    async def attempt() -> None:
        async with places:
            try:
                reader, writer = await asyncio.open_connection(url.hostname, url.port)
                staying.append(writer)
                writer.write(EVENTS)
                words = (await reader.readline()).decode().split(" ")
            except OSError:
                outcomes["closed"] += 1
                return
            outcomes[words[1] if len(words) > 1 else "closed"] += 1
            if words[1:2] != ["200"]:
                writer.close()

    await asyncio.gather(*(attempt() for _ in range(count)))
    for writer in staying:
        writer.close()
    return outcomes


def _bursts(api: ServedApi, seconds: float) -> Outcomes:
    """900 connections on which requests come all at once, again and again."""
    url, outcomes, deadline = urlsplit(api.url), Outcomes(), time.monotonic() + seconds
    while time.monotonic() < deadline:
        with ExitStack() as closing:
            connections = [
                closing.enter_context(socket.create_connection((url.hostname, url.port), 30))
                for _ in range(900)
            ]
            for connection in connections:
                with suppress(OSError):
                    connection.sendall(EVENTS)
            for connection in connections:
                outcomes[_answer(connection)] += 1
    return outcomes


def _headers(api: ServedApi, seconds: float) -> Outcomes:
    """Requests with 20,000 headers, from ten connections at a time."""
    head = b"".join(b"X-%d: y\r\n" % number for number in range(20_000))
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n"
    url, outcomes, deadline = urlsplit(api.url), Outcomes(), time.monotonic() + seconds
    while time.monotonic() < deadline:
        with ExitStack() as closing:
            sent = []
            for _ in range(10):
                connection = socket.create_connection((url.hostname, url.port), 30)
                sent.append(closing.enter_context(connection))
                with suppress(OSError):  # refused before it was all sent
                    connection.sendall(request)
            for connection in sent:
                outcomes[_answer(connection)] += 1
    return outcomes


def _answer(connection: socket.socket) -> str:
    try:
        line = connection.recv(100).split(b"\r\n")[0].decode()
    except OSError:
        return "closed"
    return line.split(" ")[1] if " " in line else "closed"


ATTACKS: dict[str, Attack] = {
    "nobody": _nobody,
    "half requests": _holding(2_000, HALF, b"x"),
    "untaken answers": _holding(1_200, WHOLE * 8),
    "expressions": _asking(COSTLY, 20),
    "searches": _asking(SEARCHES, 20),
    "groups": _asking(f"/groups/{CLUSTER}/service-00000", 20),
    "lists": _asking("/api/v1/groups", 20),
    "years": _asking(f"/api/v1/groups/{CLUSTER}/service-00000{YEARS}", 20),
    "years of a cluster": _asking(f"/api/v1/clusters/{CLUSTER}{YEARS}", 20),
    "scrapes": _asking("/metrics", 5),
    "plain scrapes": _asking("/metrics", 20, PLAIN),
    "tabs": _tabs,
    "streams": _streams,
    "bursts": _bursts,
    "headers": _headers,
}
