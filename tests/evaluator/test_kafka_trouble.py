"""What libraries log about the cluster becomes one line with cluster, setting and problem."""

import asyncio
import logging
import time
from types import SimpleNamespace

import pytest
from aiokafka import TopicPartition, errors
from aiokafka.consumer.subscription_state import SubscriptionState
from faust.types import TP
from support.manual_clock import ManualClock
from warren.clock import SystemClock
from warren.settings import Settings
from warren_evaluator.app import create_evaluator
from warren_evaluator.faust_corrections.consumer import SafeConsumer
from warren_evaluator.faust_corrections.kafka_trouble import EVERY, KafkaTrouble


def record(name: str, text: str, raised: Exception | None = None) -> logging.LogRecord:
    raised_as = (type(raised), raised, None) if raised else None
    return logging.LogRecord(name, logging.ERROR, "", 0, text, ("node", 1), raised_as)


def said(line: logging.LogRecord) -> tuple[str, str]:
    assert line.getMessage() == "cluster not usable, retrying"
    assert line.__dict__["cluster"] == "home"
    assert line.exc_info is None
    return line.__dict__["setting"], line.__dict__["problem"]


def test_a_line_of_aiokafka_is_rewritten_and_the_next_ones_wait() -> None:
    clock = ManualClock()
    trouble = KafkaTrouble(clock)
    line = record("aiokafka.client", "Unable connect to %s %d")
    assert trouble.filter(line)
    assert said(line) == ("home.bootstrap", "Unable connect to node 1")
    assert not trouble.filter(record("aiokafka.consumer.fetcher", "Failed fetch from %s %d"))
    clock.advance(EVERY)
    assert trouble.filter(record("aiokafka.client", "Unable connect to %s %d"))


@pytest.mark.parametrize(
    ("raised", "setting"),
    [
        (errors.TopicAuthorizationFailedError("w.lag"), "home.kafka"),
        (errors.SaslAuthenticationFailed("no"), "home.kafka"),
        (errors.KafkaTimeoutError("late"), "home.bootstrap"),
    ],
)
def test_a_traceback_of_faust_about_kafka_is_rewritten(raised: Exception, setting: str) -> None:
    line = record("faust.agents.agent", "Crashed %s %d", raised)
    assert KafkaTrouble(ManualClock()).filter(line)
    assert said(line)[0] == setting


def test_each_kind_of_trouble_is_said() -> None:
    trouble = KafkaTrouble(ManualClock())
    assert trouble.filter(record("aiokafka.client", "Unable connect to %s %d"))
    refused = record("mode.worker", "%s %d", errors.GroupAuthorizationFailedError("g"))
    assert trouble.filter(refused)


def test_other_lines_stay_as_they_are() -> None:
    trouble = KafkaTrouble(ManualClock())
    for line in (
        record("faust.app", "Something else: %s %d"),
        record("aiokafkaesque", "Not the library: %s %d"),
        record("faust.agents", "A bug: %s %d", ValueError("x")),
    ):
        before = line.getMessage()
        assert trouble.filter(line)
        assert line.getMessage() == before


def test_a_consumer_thread_that_has_ended_can_be_stopped() -> None:
    async def stop() -> None:
        consumer = create_evaluator(Settings(), 1, SystemClock()).app.consumer
        assert isinstance(consumer, SafeConsumer)
        thread = consumer._thread
        thread._started.set()
        thread.set_shutdown()
        thread.thread_loop.close()  # as the thread does when the worker crashed
        await thread.stop()
        assert thread.should_stop

    asyncio.run(stop())


# The consumer thread of Faust, as the evaluator runs it.


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
