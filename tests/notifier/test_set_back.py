"""A clock that is set back while something waits: nobody waits for a time to come again."""

from __future__ import annotations

import asyncio

import pytest
from notifier.builders import event, route
from notifier.harness import Harness, Log, Scripted, life
from notifier.test_digests import INTERVAL, Together, news
from support.waiting import until
from warren.clock import ManualClock
from warren_notifier.channels.channel import Retry
from warren_notifier.due import SetBack

HOUR = 3600
START = 20 * HOUR * 1000


@pytest.mark.parametrize("failures", [0, 1])
def test_neither_a_retry_nor_an_opening_that_waits_for_its_end(failures: int) -> None:
    log, clock = Log(), ManualClock(START)
    hook = Scripted(*[Retry("HTTP 503")] * failures)
    routes = [route(channels=("hook",), group_wait=0 if failures else 30)]

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, routes, {"hook": hook}, clock=clock, stopped=True)
        await harness.assign()
        await harness.read(event())
        await until(lambda: len(log.outcomes()) == failures)
        for _ in range(20):  # its worker looks at the clock, and sleeps
            await asyncio.sleep(0)
        clock.set_back(6 * HOUR)
        harness.start()
        await harness.idle()

    life(scenario)
    assert len(hook.sent) == failures + 1
    assert clock.monotonic() < 60


def test_nor_what_replaces_a_delivery_that_waits() -> None:
    log, clock, hook = Log(), ManualClock(START), Scripted(Retry("HTTP 503"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [route(channels=("hook",))]
        harness = Harness(log, tasks, routes, {"hook": hook}, clock=clock, stopped=True)
        await harness.assign()
        await harness.read(event("WARN"))
        await until(lambda: log.outcomes() == ["failed"])
        for _ in range(20):
            await asyncio.sleep(0)
        clock.set_back(6 * HOUR)
        await harness.read(event("ERR", "WARN", event_id="event-2"), offset=1)
        harness.start()
        await harness.idle()

    life(scenario)
    assert [one.pending.status for one in hook.sent] == ["WARN", "ERR"]
    assert clock.monotonic() < 60


@pytest.mark.parametrize("failures", [0, 1])
def test_nor_a_message_about_several(failures: int) -> None:
    log, clock = Log(), ManualClock(START)
    mail = Together(clock, *[Retry("451 later")] * failures)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [route(channels=("mail",))]
        harness = Harness(log, tasks, routes, {"mail": mail}, clock=clock)
        await harness.assign()
        await harness.read(news("a"), news("b"))
        await until(lambda: all(one.pending.attempts == failures for one in harness.pending()))
        await until(lambda: clock.monotonic() > 0)
        clock.set_back(6 * HOUR)
        await harness.idle()

    life(scenario)
    assert len(mail.digests) == failures + 1
    assert clock.monotonic() * 1000 < INTERVAL


def test_reminders_stay_as_far_away_as_they_were() -> None:
    log, clock = Log(), ManualClock(START)
    mail, routes = Scripted(), [route(repeat_interval=600)]

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, routes, {"mail": mail}, clock=clock)
        await harness.assign()
        await harness.read(event())
        await until(lambda: harness.queues["mail"].idle)

        async def after(seconds: float) -> int:
            clock.advance(seconds)
            await harness.tick()
            await until(lambda: harness.queues["mail"].idle)
            return len(mail.sent)

        clock.set_back(6 * HOUR)
        assert await after(599) == 1
        assert await after(1) == 2

    life(scenario)


def test_only_what_is_more_than_a_correction_counts() -> None:
    clock = ManualClock(START)
    set_back = SetBack(clock)
    clock.advance(5)
    clock.set_back(0.9)
    assert set_back.look() == 0
    clock.advance(5)
    clock.set_back(7)
    assert set_back.look() == 7_000
    assert set_back.look() == 0
