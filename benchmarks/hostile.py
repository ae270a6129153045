"""Whether others are answered while somebody does their worst: clients that send half a request,
expressions that cost, thousands that follow events, thousands of headers, tabs by the hundred.

Prints a table and one JSON line: how long readiness took at most, asked every 50 ms over a new
connection, before and during each attack, and what became of the attackers' requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

import httpx
from support.served_groups import CLUSTER, GroupLoad, ServedApi, served

READY = "/burrow/admin/ready"
COSTLY = "/api/v1/groups?regex=(.{1,60}){16}x"
SEARCHES = "/fragments/groups?q=" + "+".join(f"-word{n}" for n in range(30))
GIVEN_UP_SECONDS = 30.0
Outcomes = Counter[str]
Attack = Callable[[ServedApi, float], Outcomes]


class Readiness:
    """Asks for it all the time, from a process of its own; `waited`: how long, seconds."""

    def __init__(self, api: ServedApi) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._ours, theirs = spawning.Pipe()
        self._process = spawning.Process(target=_probe, args=(api.url + READY, theirs))
        self.waited: list[float] = []

    def __enter__(self) -> Readiness:
        self._process.start()
        self._ours.recv()  # it has begun
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.send(None)
        self.waited = self._ours.recv()
        self._process.join()


def _probe(url: str, told: Connection) -> None:
    waited: list[float] = []
    told.send(None)
    while not told.poll(0.05):
        began = time.monotonic()
        with suppress(httpx.TransportError):
            httpx.get(url, timeout=GIVEN_UP_SECONDS).raise_for_status()
            waited.append(time.monotonic() - began)
            continue
        waited.append(GIVEN_UP_SECONDS)
    told.send(waited)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=10, help="of each attack")
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    result: dict[str, object] = {"benchmark": "hostile", "groups": arguments.groups}
    print(f"{'':16}{'ready p50 ms':>14}{'worst ms':>10}  attackers")
    with served(GroupLoad(arguments.groups, 10, 30, 50)) as api:
        for name, attack in ATTACKS.items():
            with Readiness(api) as readiness:
                outcomes = attack(api, arguments.seconds)
            waited = sorted(readiness.waited)
            typical, worst = waited[len(waited) // 2] * 1000, waited[-1] * 1000
            print(f"{name:16}{typical:>14.0f}{worst:>10.0f}  {dict(outcomes)}")
            result |= {f"{name}_worst_ms": round(worst), f"{name}_outcomes": dict(outcomes)}
    print(json.dumps(result))


def _nobody(_: ServedApi, seconds: float) -> Outcomes:
    time.sleep(seconds)
    return Counter()


def _half_requests(api: ServedApi, seconds: float) -> Outcomes:
    """2,000 connections that send a byte now and then."""
    url, outcomes = urlsplit(api.url), Outcomes()
    deadline = time.monotonic() + seconds
    with ExitStack() as closing:
        slow: list[socket.socket] = []
        for _ in range(2_000):
            connection = socket.create_connection((url.hostname, url.port), 30)
            slow.append(closing.enter_context(connection))
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        while time.monotonic() < deadline:
            time.sleep(1)
            for connection in slow:
                with suppress(OSError):
                    connection.sendall(b"x")
        for connection in slow:
            outcomes[_state(connection)] += 1
    return outcomes


def _state(connection: socket.socket) -> str:
    connection.setblocking(False)
    try:
        return "answered" if connection.recv(100) else "closed"
    except BlockingIOError:
        return "open"
    except OSError:
        return "closed"


def _asking(path: str, clients: int) -> Attack:
    """So many ask for it again and again."""

    async def ask(client: httpx.AsyncClient, deadline: float, outcomes: Outcomes) -> None:
        while time.monotonic() < deadline:
            outcomes[str((await client.get(path)).status_code)] += 1

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
                writer.write(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
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
    "half requests": _half_requests,
    "expressions": _asking(COSTLY, 20),
    "searches": _asking(SEARCHES, 20),
    "groups": _asking(f"/groups/{CLUSTER}/service-00000", 20),
    "scrapes": _asking("/metrics", 5),
    "streams": _streams,
    "headers": _headers,
}


if __name__ == "__main__":
    main()
