"""The worker of one channel: waits until an attempt is due, makes it, records what it led to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from warren.clock import Clock
from warren.metrics.notifier import NOTIFIER_ATTEMPT_SECONDS

from warren_notifier.channels.channel import Channel, Result, Retry
from warren_notifier.delivery.group_queues import GroupQueue
from warren_notifier.delivery.outcome_recorder import OutcomeRecorder
from warren_notifier.delivery.retry_plan import RetryPlan, Step, without_attempt
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.telling import Telling

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

    async def step(self, queue: GroupQueue) -> None:
        """Takes the first telling of a queue that has a delivery one attempt further."""
        telling = queue.head
        if not telling.is_held:
            await telling.durable.wait()
        if telling.is_held:  # it comes back when it is let go
            queue.tellings.remove(telling)
            return
        delivery, needless = telling.delivery, telling.needless()
        if delivery is None:
            return
        if needless is not None:
            end = without_attempt(delivery.pending, needless.outcome, needless.why)
            await self._recorder.record(delivery, end)
            return
        wait = delivery.pending.next_attempt_at - self._clock.now_ms()
        if wait > 0:
            await self._sleep(wait / 1000)
            return  # the clock decides again
        async with self._slots:
            queue.busy = True
            attempted = await self._attempt(telling)
        if attempted is not None:
            await self._recorder.record(
                attempted.delivery,
                attempted.step,
                attempted.milliseconds,
                uncertain=attempted.uncertain,
            )
        queue.busy = False

    async def _attempt(self, telling: Telling) -> _Attempted | None:
        """One attempt with what the channel is to know now; None when that has just changed.

        That something may arrive is durable before it is sent: its end is then owed.
        """
        delivery, uncertain = telling.delivery, telling.told.uncertain
        if delivery is None or telling.is_held:
            return None
        telling.suspect(True)
        if delivery.pending.attempts and not uncertain and delivery.pending.kind != "resolved":
            await self._recorder.remember(delivery)
            if telling.delivery is not delivery:
                telling.suspect(uncertain)
                return None
        if delivery.pending.kind == "changed" and not uncertain:
            self._open_if_unknown(telling, delivery)
        telling.in_flight = delivery
        started = self._clock.monotonic()
        result = await self._send(delivery)
        seconds = self._clock.monotonic() - started
        NOTIFIER_ATTEMPT_SECONDS.labels(self._name).observe(seconds)
        uncertain |= isinstance(result, Retry) and result.uncertain
        step = self._plan.after(delivery.pending, result, self._clock.now_ms())
        return _Attempted(delivery, step, round(seconds * 1000), uncertain)

    def _open_if_unknown(self, telling: Telling, delivery: Delivery) -> None:
        """What was decided while an opening was under way opens, if that has failed since."""
        pending = delivery.pending
        if telling.told.status is None and pending.status in ("WARN", "ERR"):
            delivery.pending = pending.model_copy(update={"kind": "opened"})

    async def _send(self, delivery: Delivery) -> Result:
        try:
            async with asyncio.timeout(self._channel.timeout):
                return await self._channel.send(delivery)
        except TimeoutError:
            return Retry(f"no answer within {self._channel.timeout:g} s", uncertain=True)
        except Exception as error:  # reaches log, audit and dead letter
            # A fault of ours with one delivery must not stop all the others.
            log.exception("attempt failed unexpectedly", channel=self._name)
            return Retry(f"{type(error).__name__}: {error}", uncertain=True)


@dataclass(frozen=True, slots=True)
class _Attempted:
    delivery: Delivery
    step: Step
    milliseconds: int
    uncertain: bool
