"""How many attempts a channel makes at the same time, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from warren_notifier.channels.channel import Result, Retry
from warren_notifier.delivery.rate_limit import RateLimit


class Slots:
    """Of one channel. When all of its last attempts hung, it makes one at a time until one does
    not: a receiver that is away is not pounded, and what hangs does not end all at once.
    """

    def __init__(self, concurrency: int, limit: RateLimit | None = None) -> None:
        self._concurrency = concurrency
        self._free = asyncio.Semaphore(concurrency)
        self._limit = limit
        self._hung = 0
        """Attempts, without one between them that did not hang."""
        self._withheld = 0

    @property
    def at_once(self) -> int:
        """Attempts that wait for nothing but a free slot."""
        return self._concurrency - self._withheld if self._limit is None else 0

    @asynccontextmanager
    async def turn(self, wanted: Callable[[], bool]) -> AsyncIterator[bool]:
        """For one attempt: waits for a free slot, and then for the limit. False: what has happened
        meanwhile makes it needless.
        """
        await self._free.acquire()
        try:
            yield wanted() if self._limit is None else await self._limit.turn(wanted)
        finally:
            self._give_back()

    def note(self, result: Result) -> None:
        """What an attempt came to, before its slot is given back."""
        if isinstance(result, Retry) and result.hung:
            self._hung += 1
            return
        self._hung = 0
        while self._withheld:
            self._withheld -= 1
            self._free.release()

    def _give_back(self) -> None:
        if self._hung >= self._concurrency > self._withheld + 1:
            self._withheld += 1
        else:
            self._free.release()
