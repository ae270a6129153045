"""Pages that stay open: each asks for its fragment as the script of the pages does."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import httpx
from support.served_groups import ServedApi

PERIOD = 2.0  # seconds; as in refresh.js


@dataclass(frozen=True, slots=True)
class Tabs:
    """Seconds of CPU a second of the API, without what feeds it, and how long tabs waited for
    answers.
    """

    cores: float
    waited: list[float]


def open_tabs(api: ServedApi, fragment: str, count: int, seconds: float) -> Tabs:
    """So many for so long, begun one after the other within a period."""
    return asyncio.run(_open(api, fragment, count, seconds))


async def _open(api: ServedApi, fragment: str, count: int, seconds: float) -> Tabs:
    waited: list[float] = []
    limits = httpx.Limits(max_connections=count, max_keepalive_connections=count)
    async with httpx.AsyncClient(base_url=api.url, limits=limits, timeout=120) as client:
        loaded = (await client.get(fragment)).headers["ETag"]
        began, before = time.monotonic(), api.cpu_s
        tabs = [
            _tab(client, fragment, loaded, waited, began + PERIOD * n / count) for n in range(count)
        ]
        running = asyncio.gather(*tabs)
        await asyncio.sleep(seconds)
        spent = (api.cpu_s - before) / (time.monotonic() - began)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return Tabs(spent, waited)


async def _tab(
    client: httpx.AsyncClient, fragment: str, tag: str, waited: list[float], first: float
) -> None:
    """Adds what it waited for each answer. `tag`: of what it shows when it begins."""
    headers, turn = {"Accept-Encoding": "gzip", "If-None-Match": tag}, 0
    while True:
        await asyncio.sleep(max(first + turn * PERIOD - time.monotonic(), 0))
        turn += 1
        asked = time.monotonic()
        async with client.stream("GET", fragment, headers=headers) as answer:
            async for _ in answer.aiter_raw():
                pass
        waited.append(time.monotonic() - asked)
        if answer.status_code != httpx.codes.NOT_MODIFIED:
            answer.raise_for_status()
            headers["If-None-Match"] = answer.headers["ETag"]
