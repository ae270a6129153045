"""The consumer thread of Faust, as the evaluator runs it."""

from __future__ import annotations

import asyncio

from warren.clock import SystemClock
from warren.settings import Settings
from warren_evaluator.app import create_evaluator
from warren_evaluator.faust_corrections.consumer import SafeConsumer


def test_a_consumer_thread_that_has_ended_can_be_stopped() -> None:
    async def stop() -> None:
        app = create_evaluator(Settings(), 1, SystemClock()).app
        consumer = app.consumer
        assert isinstance(consumer, SafeConsumer)
        thread = consumer._thread
        thread._started.set()
        thread.set_shutdown()
        thread.thread_loop.close()  # as the thread does when the worker crashed
        await thread.stop()
        assert thread.should_stop

    asyncio.run(stop())
