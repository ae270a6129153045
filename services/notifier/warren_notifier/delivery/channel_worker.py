"""The worker of one channel: waits until an attempt is due, makes it, records what it led to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from warren.clock import Clock

from warren_notifier.delivery.attempts import Attempts
from warren_notifier.delivery.digests import Digests
from warren_notifier.delivery.group_queues import GroupQueue
from warren_notifier.delivery.outcome_recorder import OutcomeRecorder
from warren_notifier.delivery.retry_plan import without_attempt
from warren_notifier.delivery.slots import Slots
from warren_notifier.state.telling import Telling

Sleep = Callable[[float], Awaitable[None]]


class ChannelWorker:
    """The work on a channel's queues; at most as many attempts at the same time as `slots` has."""

    def __init__(
        self,
        attempts: Attempts,
        digests: Digests,
        recorder: OutcomeRecorder,
        slots: Slots,
        clock: Clock,
        sleep: Sleep,
    ) -> None:
        self._attempts = attempts
        self._digests = digests
        self._recorder = recorder
        self._slots = slots
        self._clock = clock
        self._sleep = sleep

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
        if telling.told.digest is not None:
            await self._step_together(queue)
            return
        wait = delivery.wait(self._clock)
        if wait > 0:
            await self._sleep(wait)
            return  # the clock decides again
        tried = delivery.pending.attempts > 0
        async with self._slots.turn(lambda: _can_be_told(telling), tried=tried) as wanted:
            if not wanted:
                return  # what it is to know has changed while it waited
            queue.busy = True
            prepared = await self._attempts.prepare(telling)
            attempted = await self._attempts.alone(prepared) if prepared is not None else None
        if attempted is not None:
            await self._attempts.record(attempted)
        queue.busy = False

    async def _step_together(self, queue: GroupQueue) -> None:
        """What is told with others: the digest says when, and what it led to."""
        for attempted in await self._digests.join(queue):
            await self._attempts.record(attempted)
        queue.busy = False


def _can_be_told(telling: Telling) -> bool:
    there = telling.delivery is not None and telling.durable.is_set()
    return there and telling.needless() is None
