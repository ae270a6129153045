"""What the process gives to those who ask."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest
from api.served_api import Api, served
from support.waiting import eventually
from warren.metrics.family import Family
from warren_api.http import serving
from warren_api.http.serving import THREADS, Connection
from warren_api.metrics import scrape as metrics_route
from warren_api.metrics.exposition import SampleLines, row_lines
from warren_api.metrics.series import Collected, Samples


def test_few_threads_write_for_clients_who_have_begun_to_take_theirs(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them stands in line for the interpreter, and the event loop among them."""
    counting, at_once, most, may_end = threading.Lock(), 0, 0, threading.Event()

    def slow_series(*_: Any) -> Iterator[Collected]:
        nonlocal at_once, most
        with counting:
            at_once += 1
            most = max(most, at_once)
        assert may_end.wait(60)
        with counting:
            at_once -= 1
        yield Collected(
            Family("slow", "Slow", ()), [Samples(SampleLines(row_lines((), [()])), [1])]
        )

    monkeypatch.setattr(metrics_route, "scrape", slow_series)
    plain = {"Accept-Encoding": "identity"}
    count = 3 * THREADS
    with served(api) as address, ThreadPoolExecutor(count) as clients:
        asked = [
            clients.submit(httpx.get, f"{address}/metrics", headers=plain, timeout=60)
            for _ in range(count)
        ]
        eventually(lambda: most >= THREADS, message="all threads write")
        assert httpx.get(f"{address}/burrow/admin", timeout=60).text == "GOOD"
        may_end.set()
        assert all(scraped.result().text.endswith("slow 1\n") for scraped in asked)
    assert most == THREADS


def test_who_has_just_connected_when_the_server_stops_is_not_kept(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uvicorn asks those to go that it knows at one moment."""
    monkeypatch.setattr(Connection, "shutdown", lambda _: None)
    monkeypatch.setattr(serving, "SHUTDOWN_SECONDS", 0.2)
    with served(api) as address:
        host, port = address.removeprefix("http://").split(":")
        client = socket.create_connection((host, int(port)), timeout=60)
        client.sendall(b"GET /burrow/admin HTTP/1.1\r\nHost: warren\r\n\r\n")
        assert client.recv(1)
    with client, suppress(ConnectionResetError):
        while client.recv(2**20):  # ends, by whatever closes a socket
            pass
