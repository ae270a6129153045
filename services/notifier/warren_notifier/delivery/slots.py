"""How many attempts a channel makes at the same time, in which order, and how often: so many
messages at once, and so many a minute after that.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from warren.clock import Clock

from warren_notifier.channels.channel import Result, Retry

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


HUNG_ROUNDS = 4  # times concurrency: so many hung attempts in a row are the receiver's, not groups'


class Slots:
    """Of one channel. When so many attempts in a row hung that its receiver is away, it makes one
    at a time until one does not: the receiver is not pounded, and what hangs does not end all at
    once. What was never attempted goes first then, for it may be answered.
    """

    def __init__(self, concurrency: int, limit: RateLimit | None = None) -> None:
        self._concurrency = concurrency
        self._limit = limit
        self._under_way = 0
        self._hung = 0
        """Attempts, without one between them that did not hang."""
        self._came = 0
        self._new: _Line = OrderedDict()
        self._tried: _Line = OrderedDict()

    @property
    def _at_once(self) -> int:
        is_away = self._hung >= HUNG_ROUNDS * self._concurrency
        return 1 if is_away else self._concurrency

    @property
    def at_once(self) -> int:
        """Attempts that wait for nothing but a free slot."""
        return self._at_once if self._limit is None else 0

    @asynccontextmanager
    async def turn(self, wanted: Callable[[], bool], *, tried: bool) -> AsyncIterator[bool]:
        """For one attempt: waits for a free slot, and then for the limit. False: what has happened
        meanwhile makes it needless. `tried`: it is not the first attempt.
        """
        await self._wait(self._tried if tried else self._new)
        try:
            yield wanted() if self._limit is None else await self._limit.turn(wanted)
        finally:
            self._give_back()

    def note(self, result: Result) -> None:
        """What an attempt came to, before its slot is given back."""
        hung = isinstance(result, Retry) and result.hung
        self._hung = self._hung + 1 if hung else 0
        self._let_in()

    async def _wait(self, line: _Line) -> None:
        self._came += 1
        slot = asyncio.get_running_loop().create_future()
        line[slot] = self._came
        self._let_in()
        try:
            await slot
        except asyncio.CancelledError:
            line.pop(slot, None)
            if not slot.cancelled():  # it was given between the two
                self._give_back()
            raise

    def _give_back(self) -> None:
        self._under_way -= 1
        self._let_in()

    def _let_in(self) -> None:
        """A slot is free, or nobody waits: whoever is let in has theirs before they go on."""
        while self._under_way < self._at_once and (line := self._next()):
            slot, _ = line.popitem(last=False)
            if not slot.done():  # cancelled, and not yet gone
                self._under_way += 1
                slot.set_result(None)

    def _next(self) -> _Line:
        """First come, first served; empty when nobody waits."""
        if not self._new or not self._tried:
            return self._new or self._tried
        if self._at_once < self._concurrency:
            return self._new
        return min(self._new, self._tried, key=lambda line: next(iter(line.values())))


_Line = OrderedDict[asyncio.Future[None], int]
"""Who waits, by when they came."""
