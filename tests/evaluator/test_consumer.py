"""The consumer thread of Faust, as the evaluator runs it."""

import asyncio
import time
from types import SimpleNamespace

import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.subscription_state import SubscriptionState
from faust.types import TP
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


@pytest.mark.parametrize("what", ["no subscription", "given away", "no position yet"])
def test_a_partition_whose_position_is_not_known_is_looked_at_later(what: str) -> None:
    async def look() -> None:
        subscriptions = SubscriptionState()
        if what != "no subscription":
            owned = 1 if what == "given away" else 0
            subscriptions.assign_from_user({TopicPartition("events", owned)})
            subscriptions.subscription.assignment.state_value(
                TopicPartition("events", owned)
            ).timestamp = time.time() * 1000
        consumer = create_evaluator(Settings(), 1, SystemClock()).app.consumer
        assert isinstance(consumer, SafeConsumer)
        thread = consumer._thread
        thread._consumer = SimpleNamespace(_fetcher=SimpleNamespace(_subscriptions=subscriptions))
        thread.verify_event_path(time.monotonic(), TP("events", 0))
        thread.thread_loop.close()

    asyncio.run(look())
