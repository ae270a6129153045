"""Attempts on one channel: wait until one is due, make it, enter what it led to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog
from warren.clock import Clock
from warren.metrics.notifier import NOTIFIER_ATTEMPT_SECONDS

from warren_notifier.delivery.group_queues import Lane
from warren_notifier.delivery.outcome_recorder import Books
from warren_notifier.delivery.retry_plan import Result, Retry, RetryPlan, without_attempt
from warren_notifier.state.subject_state import Entry

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]


class Channel(Protocol):
    """A way to reach people or machines."""

    timeout: float
    concurrency: int

    async def send(self, entry: Entry) -> Result:
        """One attempt. What goes wrong on the way is a result, not an exception."""

    async def close(self) -> None:
        """Frees connections."""


class Attempts:
    """The work on a channel's lanes; at most `concurrency` attempts at the same time."""

    def __init__(
        self, name: str, channel: Channel, plan: RetryPlan, books: Books, clock: Clock, sleep: Sleep
    ) -> None:
        self._name = name
        self._channel = channel
        self._plan = plan
        self._books = books
        self._clock = clock
        self._sleep = sleep
        self._slots = asyncio.Semaphore(channel.concurrency)

    async def step(self, lane: Lane) -> bool:
        """Takes the lane's first delivery one attempt further; True when that was its end."""
        entry = lane.head
        if entry.delivery.awaits_opening:
            why = "its opening did not arrive, so nobody awaits the end"
            await self._books.enter(entry, without_attempt(entry.delivery, "suppressed", why))
            return True
        wait = entry.delivery.next_attempt_at - self._clock.now_ms()
        if wait > 0:
            await self._sleep(wait / 1000)
            return False  # the clock decides again
        async with self._slots:
            lane.busy = True
            started = self._clock.monotonic()
            result = await self._attempt(entry)
            seconds = self._clock.monotonic() - started
        NOTIFIER_ATTEMPT_SECONDS.labels(self._name).observe(seconds)
        step = self._plan.after(entry.delivery, result, self._clock.now_ms())
        await self._books.enter(entry, step, round(seconds * 1000))
        lane.busy = False
        return step.final

    async def _attempt(self, entry: Entry) -> Result:
        try:
            async with asyncio.timeout(self._channel.timeout):
                return await self._channel.send(entry)
        except TimeoutError:
            return Retry(f"no answer within {self._channel.timeout:g} s")
        except Exception as error:  # reaches log, audit and dead letter
            # A fault of ours with one delivery must not stop all the others.
            log.exception("attempt failed unexpectedly", channel=self._name)
            return Retry(f"{type(error).__name__}: {error}")
