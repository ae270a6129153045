"""How many attempts a channel makes at the same time, and how often."""

from __future__ import annotations

import asyncio
from types import TracebackType

from warren_notifier.delivery.rate_limit import RateLimit


class Slots:
    """Entered for each attempt; waits for a free slot, and then for the limit."""

    def __init__(self, concurrency: int, limit: RateLimit | None = None) -> None:
        self._free = asyncio.Semaphore(concurrency)
        self._limit = limit

    async def __aenter__(self) -> None:
        await self._free.acquire()
        try:
            if self._limit is not None:
                await self._limit.turn()
        except BaseException:
            self._free.release()
            raise

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._free.release()
