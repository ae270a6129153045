"""How often a channel is used: so many messages at once, and so many a minute after that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from warren.clock import Clock

BURST = 10  # messages that go at once


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` messages at once, then one every `interval` seconds."""

    interval: float
    burst: int

    @classmethod
    def per_minute(cls, messages: float, burst: int = BURST) -> Rate:
        return cls(60 / messages, burst)


class Bucket:
    """Counts one channel's messages by the time at which all that were let go would have been due
    (generic cell rate algorithm, ITU-T I.371).
    """

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._due = 0.0

    def take(self, now: float) -> float:
        """0: a message may go. Else the seconds until the next one may, and nothing is counted."""
        due = max(self._due, now)
        wait = due - now - (self._rate.burst - 1) * self._rate.interval
        if wait > 0:
            return wait
        self._due = due + self._rate.interval
        return 0


class RateLimit:
    """Of one channel, of one notifier."""

    def __init__(self, rate: Rate, clock: Clock, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._bucket = Bucket(rate)
        self._clock = clock
        self._sleep = sleep
        self._in_turn = asyncio.Lock()

    async def turn(self, wanted: Callable[[], bool] = lambda: True) -> bool:
        """Returns when a message may go; whoever asks first goes first. False: it is no longer
        wanted, and counts for nothing.
        """
        async with self._in_turn:
            while wanted():
                wait = self._bucket.take(self._clock.monotonic())
                if wait <= 0:
                    return True
                await self._sleep(wait)
        return False
