"""Silences where incidents are told together: put off alone, and told in one message afterwards."""

from __future__ import annotations

import asyncio

from notifier.asked import put, silence
from notifier.builders import route
from notifier.harness import Harness, Log, life
from notifier.test_digests import HOUR, WAIT, Together, later, news
from support.waiting import until
from warren.clock import ManualClock
from warren.silences import Silences

ROUTES = [route(channels=("mail",))]
OVER = 3_600_000
GROUPS = [f"g{number}" for number in range(50)]


def test_a_storm_in_a_silence_is_one_message_after_it() -> None:
    log, clock = Log(), ManualClock(0)
    mail = Together(clock)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = put(Silences(), silence(begins_at=0, ends_at=OVER))
        harness = Harness(log, tasks, ROUTES, {"mail": mail}, clock=clock, silences=quiet)
        await harness.assign()
        await harness.read(*(news(group) for group in GROUPS))
        ends = (later(news(group, "OK"), HOUR) for group in GROUPS[:10])
        await harness.read(*ends, offset=50)
        await harness.tick()
        assert not mail.digests
        clock.advance(OVER / 1000)
        await harness.tick()
        await harness.idle()

    life(scenario)
    assert mail.told() == [sorted((group, "opened") for group in GROUPS[10:])]


def test_a_silence_takes_effect_on_what_waits_for_others() -> None:
    """Those that it is not about are told when they would have been."""
    log, clock = Log(), ManualClock(0)
    mail = Together(clock)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = Silences()
        harness = Harness(
            log, tasks, ROUTES, {"mail": mail}, clock=clock, silences=quiet, stopped=True
        )
        await harness.assign()
        await harness.read(news("a"), news("b"))
        put(quiet, silence(group="^a$", begins_at=0, ends_at=OVER))
        await harness.tick()
        harness.start()
        await until(lambda: len(mail.digests) == 1)
        assert clock.now_ms() >= WAIT
        await until(lambda: len(harness.pending()) == 1)
        clock.advance((OVER - clock.now_ms()) / 1000)
        await harness.tick()
        await harness.idle()

    life(scenario)
    assert mail.told() == [[("b", "opened")], [("a", "opened")]]
    assert [one.outcome for one in log.audit() if one.group == "a"] == ["silenced", "delivered"]
