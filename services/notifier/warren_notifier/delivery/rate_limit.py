"""How often a channel is used: so many messages at once, and so many a minute after that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from warren.clock import Clock

BURST = 10  # messages that go at once
JITTER = 0.1  # of a wait, so that notifiers that share a limit do not ask at the same moment


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


class SharedBuckets(Protocol):
    """Buckets that all notifiers count in."""

    async def take(self, channel: str, rate: Rate) -> float | None:
        """As `Bucket.take`; None when nobody can be asked."""


class RateLimit:
    """Of one channel. Without `shared`, or while that is away, each notifier counts for itself."""

    def __init__(
        self,
        channel: str,
        rate: Rate,
        shared: SharedBuckets | None,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]],
        jitter: Callable[[], float],
    ) -> None:
        self._channel = channel
        self._rate = rate
        self._bucket = Bucket(rate)
        self._shared = shared
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._in_turn = asyncio.Lock()

    async def turn(self, wanted: Callable[[], bool] = lambda: True) -> bool:
        """Returns when a message may go; whoever asks first goes first. False: it is no longer
        wanted, and counts for nothing.
        """
        async with self._in_turn:
            while wanted():
                wait = await self._take()
                if wait <= 0:
                    return True
                await self._sleep(wait * (1 + JITTER * self._jitter()))
        return False

    async def _take(self) -> float:
        if self._shared is not None:
            wait = await self._shared.take(self._channel, self._rate)
            if wait is not None:
                if wait == 0:
                    self._bucket.take(self._clock.monotonic())  # should it be away next time
                return wait
        return self._bucket.take(self._clock.monotonic())
