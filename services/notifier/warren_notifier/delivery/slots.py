"""How many attempts a channel makes at the same time, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from warren_notifier.delivery.rate_limit import RateLimit


class Slots:
    """Of one channel."""

    def __init__(self, concurrency: int, limit: RateLimit | None = None) -> None:
        self._free = asyncio.Semaphore(concurrency)
        self._limit = limit

    @asynccontextmanager
    async def turn(self, wanted: Callable[[], bool]) -> AsyncIterator[bool]:
        """For one attempt: waits for a free slot, and then for the limit. False: what has happened
        meanwhile makes it needless.
        """
        async with self._free:
            yield wanted() if self._limit is None else await self._limit.turn(wanted)
