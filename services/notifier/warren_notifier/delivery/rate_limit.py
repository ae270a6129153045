"""How often a channel is used: so many messages at once, and so many a minute after that."""

import asyncio
from collections.abc import Awaitable, Callable

from warren.clock import Clock

BURST = 10  # messages that go at once


class RateLimit:
    """Of one channel, of one notifier. Counts messages by the time at which all that were let go
    would have been due (generic cell rate algorithm, ITU-T I.371).
    """

    def __init__(
        self, per_minute: float, clock: Clock, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._interval = 60 / per_minute
        self._clock = clock
        self._sleep = sleep
        self._due = 0.0
        self._in_turn = asyncio.Lock()

    async def turn(self, wanted: Callable[[], bool] = lambda: True) -> bool:
        """Returns when a message may go; whoever asks first goes first. False: it is no longer
        wanted, and counts for nothing.
        """
        async with self._in_turn:
            while wanted():
                due = max(self._due, now := self._clock.monotonic())
                wait = due - now - (BURST - 1) * self._interval
                if wait <= 0:
                    self._due = due + self._interval
                    return True
                await self._sleep(wait)
        return False
