"""A clock that is set back while something waits: nobody waits for a time to come again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from notifier.builders import event, route
from notifier.harness import Harness, Scripted, play
from notifier.test_digests import INTERVAL, Together, news
from support.manual_clock import ManualClock
from support.waiting import until
from warren.contracts import StatusChangeEvent
from warren_notifier.channels.channel import Retry
from warren_notifier.due import SetBack

HOUR = 3600
START = 20 * HOUR * 1000


def set_back(after: Callable[[Harness], bool]) -> Callable[[Harness], Awaitable[None]]:
    async def step(harness: Harness) -> None:
        await until(lambda: after(harness))
        for _ in range(20):  # its worker looks at the clock, and sleeps
            await asyncio.sleep(0)
        harness.clock.set_back(6 * HOUR)

    return step


@pytest.mark.parametrize(
    ("failures", "then"), [(0, []), (1, []), (1, [event("ERR", "WARN", event_id="event-2")])]
)
def test_neither_a_retry_nor_an_opening_that_waits_for_its_end(
    failures: int, then: list[StatusChangeEvent]
) -> None:
    """Nor what replaces a delivery that waits."""
    clock, hook = ManualClock(START), Scripted(*[Retry("HTTP 503")] * failures)
    play(
        {"hook": hook},
        event("WARN"),
        set_back(lambda harness: len(harness.log.outcomes()) == failures),
        *then,
        Harness.start,
        Harness.idle,
        routes=[route(channels=("hook",), group_wait=0 if failures else 30)],
        clock=clock,
        stopped=True,
    )
    assert len(hook.sent) == failures + 1
    assert hook.sent[-1].pending.status == ("ERR" if then else "WARN")
    assert clock.monotonic() < 60


@pytest.mark.parametrize("failures", [0, 1])
def test_nor_a_message_about_several(failures: int) -> None:
    clock = ManualClock(START)
    mail = Together(clock, *[Retry("451 later")] * failures)

    async def read(harness: Harness) -> None:
        await harness.read(news("a"), news("b"))
        await until(lambda: all(one.pending.attempts == failures for one in harness.pending()))
        await until(lambda: clock.monotonic() > 0)
        clock.set_back(6 * HOUR)
        await harness.idle()

    play({"mail": mail}, read, clock=clock)
    assert len(mail.digests) == failures + 1
    assert clock.monotonic() * 1000 < INTERVAL


def test_reminders_stay_as_far_away_as_they_were() -> None:
    clock, mail, told = ManualClock(START), Scripted(), list[int]()

    def back(_: Harness) -> None:
        clock.set_back(6 * HOUR)

    def look(_: Harness) -> None:
        told.append(len(mail.sent))

    routes = [route(repeat_interval=600)]
    play({"mail": mail}, event(), back, 599, look, 1, look, routes=routes, clock=clock)
    assert told == [1, 2]


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
