"""An evaluator worker with a slow step, as on a busy machine: `slow_worker.py seek|recovery|…`.

Those are the steps in which Faust alone loses events: see `SafeRecovery` and `SafeConsumerThread`
in `warren_evaluator.faust_corrections`. `judgement` takes its time for each batch while the time
without a poll runs faster, and `hang` never ends a batch. `told` is told to stop (SIGTERM) when it
has found its home and before Faust listens to signals.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka.consumer.subscription_state import SubscriptionState
from faust.tables.recovery import Recovery
from faust.transport.consumer import Consumer
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from warren_evaluator import __main__ as evaluator, app
from warren_evaluator.pipeline import Pipeline

SECONDS = 2.5
Step = Callable[..., Awaitable[Any]]


def slowly(step: Step) -> Step:
    async def run(*arguments: Any) -> Any:
        await asyncio.sleep(SECONDS)
        return await step(*arguments)

    return run


def with_long_wait(fetch: Step) -> Step:
    """A fetch that was begun before a rebalance is still there after it."""

    async def run(thread: Any, active_partitions: Any, timeout: float) -> Any:
        return await fetch(thread, active_partitions, 60 * timeout)

    return run


def with_short_limit(wait: Step) -> Step:
    """The slow step outlasts the limit that Faust gives it."""

    async def run(*waited_for: Any, timeout: float | None = None) -> Any:
        return await wait(*waited_for, timeout=timeout and SECONDS / 2)

    return run


def with_fast_idle_time(factor: float) -> None:
    """What takes minutes without a poll takes seconds."""
    upstream = SubscriptionState.fetcher_idle_time.fget
    SubscriptionState.fetcher_idle_time = property(lambda state: factor * upstream(state))


def hanging(_: Step) -> Step:
    async def run(*_: Any) -> None:
        await asyncio.Event().wait()

    return run


def telling(create: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return create(*arguments)

    return run


if __name__ == "__main__":
    step = sys.argv.pop()
    if step == "seek":
        app.BATCH = 4
        Consumer.perform_seek = slowly(Consumer.perform_seek)
    elif step == "recovery":
        Recovery._build_highwaters = slowly(Recovery._build_highwaters)
        Recovery.wait_first = with_short_limit(Recovery.wait_first)
        AIOKafkaConsumerThread.getmany = with_long_wait(AIOKafkaConsumerThread.getmany)
    elif step == "judgement":
        app.BATCH = 50
        with_fast_idle_time(100)
        Pipeline.run = slowly(Pipeline.run)
    elif step == "hang":
        Pipeline.run = hanging(Pipeline.run)
    elif step == "told":
        evaluator.create_evaluator = telling(evaluator.create_evaluator)
    else:
        sys.exit(f"unknown step: {step}")
    evaluator.main()
