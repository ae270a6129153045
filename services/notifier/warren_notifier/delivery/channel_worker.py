"""The worker of one channel: waits until an attempt is due, makes it, records what it led to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from warren.clock import Clock
from warren.metrics.notifier import NOTIFIER_ATTEMPT_SECONDS

from warren_notifier.channels.channel import Channel, Result, Retry
from warren_notifier.delivery.group_queues import GroupQueue
from warren_notifier.delivery.outcome_recorder import OutcomeRecorder
from warren_notifier.delivery.retry_plan import RetryPlan, without_attempt
from warren_notifier.state.delivery import Delivery

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]


class ChannelWorker:
    """The work on a channel's queues; at most `concurrency` attempts at the same time."""

    def __init__(
        self,
        name: str,
        channel: Channel,
        plan: RetryPlan,
        recorder: OutcomeRecorder,
        clock: Clock,
        sleep: Sleep,
    ) -> None:
        self._name = name
        self._channel = channel
        self._plan = plan
        self._recorder = recorder
        self._clock = clock
        self._sleep = sleep
        self._slots = asyncio.Semaphore(channel.concurrency)

    async def step(self, queue: GroupQueue) -> bool:
        """Takes the queue's first delivery one attempt further; True when that was its end."""
        delivery = queue.head
        if delivery.pending.awaits_opening:
            why = "its opening did not arrive, so nobody awaits the end"
            suppressed = without_attempt(delivery.pending, "suppressed", why)
            await self._recorder.record(delivery, suppressed)
            return True
        wait = delivery.pending.next_attempt_at - self._clock.now_ms()
        if wait > 0:
            await self._sleep(wait / 1000)
            return False  # the clock decides again
        async with self._slots:
            queue.busy = True
            started = self._clock.monotonic()
            result = await self._attempt(delivery)
            seconds = self._clock.monotonic() - started
        NOTIFIER_ATTEMPT_SECONDS.labels(self._name).observe(seconds)
        step = self._plan.after(delivery.pending, result, self._clock.now_ms())
        await self._recorder.record(delivery, step, round(seconds * 1000))
        queue.busy = False
        return step.final

    async def _attempt(self, delivery: Delivery) -> Result:
        try:
            async with asyncio.timeout(self._channel.timeout):
                return await self._channel.send(delivery)
        except TimeoutError:
            return Retry(f"no answer within {self._channel.timeout:g} s")
        except Exception as error:  # reaches log, audit and dead letter
            # A fault of ours with one delivery must not stop all the others.
            log.exception("attempt failed unexpectedly", channel=self._name)
            return Retry(f"{type(error).__name__}: {error}")
