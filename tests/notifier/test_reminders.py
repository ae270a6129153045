"""Nobody is reminded of what he has only just been told: the interval counts for each channel from
when it last heard of the incident.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, event, route
from notifier.harness import Hanging, Harness, Log, Scripted, life
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import ChannelIdentity
from warren.silences import Silences
from warren_notifier.channels.channel import Refused, Result
from warren_notifier.routing.routes import Route
from warren_notifier.state.delivery import Delivery

REMINDING = route(repeat_interval=20 * 60)


class Told(Scripted):
    """Notes when it was told what, in minutes from the incident's beginning."""

    def __init__(self, clock: ManualClock, *results: Refused) -> None:
        super().__init__(*results)
        self.identity = ChannelIdentity(kind="webhook", place="", digest="1")
        self._clock = clock
        self.at: list[tuple[str, float]] = []

    async def send(self, delivery: Delivery) -> Result:
        minute = (self._clock.now_ms() - OPENED_AT) / MINUTE
        self.at.append((delivery.pending.kind, minute))
        return await super().send(delivery)


class Life:
    """Of a notifier with the channel `mail`."""

    def __init__(self, *routes: Route, refuses: Sequence[Refused] = ()) -> None:
        self._routes = routes
        self.log, self.clock, self.asked = Log(), ManualClock(OPENED_AT), Silences()
        self.mail = Told(self.clock, *refuses)

    def harness(self, tasks: asyncio.TaskGroup) -> Harness:
        channels = {"mail": self.mail}
        return Harness(
            self.log, tasks, self._routes, channels, clock=self.clock, silences=self.asked
        )

    async def until(self, harness: Harness, minute: int) -> None:
        """Each minute all is done that is due."""
        while self.clock.now_ms() < OPENED_AT + minute * MINUTE:
            self.clock.advance(60)
            await harness.tick()
            await until(lambda: all(queues.idle for queues in harness.queues.values()))


def reminders(*minutes: float) -> list[tuple[str, float]]:
    return [("opened", minutes[0]), *(("repeated", minute) for minute in minutes[1:])]


def test_what_was_silenced_counts_from_when_it_was_told() -> None:
    notifier = Life(REMINDING)
    put(notifier.asked, silence(ends_at=OPENED_AT + 18 * MINUTE))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign()
        await harness.read(event())
        await notifier.until(harness, 60)

    life(scenario)
    assert notifier.mail.at == reminders(18, 38, 58)


@pytest.mark.parametrize("restart_at", [None, 15, 21, 30])
def test_each_is_reminded_at_the_interval_over_a_restart(restart_at: int | None) -> None:
    notifier = Life(REMINDING)

    async def first(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign()
        await harness.read(event())
        await harness.idle()
        await notifier.until(harness, restart_at or 60)

    async def second(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign(committed=1)
        await notifier.until(harness, 60)

    life(first)
    life(second)
    assert notifier.mail.at == reminders(0, 20, 40, 60)
    assert len(set(notifier.mail.ids)) == 4


def test_news_count_when_they_arrive_at_a_receiver_that_was_away() -> None:
    log, clock, hook = Log(), ManualClock(OPENED_AT), Hanging()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [REMINDING], {"mail": hook}, clock=clock)
        await harness.assign()
        await harness.read(event())
        await until(lambda: hook.sent)
        clock.advance(19 * 60)
        hook.let_go.set()
        await harness.idle()
        for minute in range(20, 40):
            clock.advance(60)
            await harness.tick()
            await harness.idle()
            assert len(hook.sent) == 1 + (minute == 39)

    life(scenario)


def test_who_refused_the_opening_is_told_at_the_interval() -> None:
    notifier = Life(REMINDING, refuses=[Refused("HTTP 404"), Refused("HTTP 404")])

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign()
        await harness.read(event())
        await harness.idle()
        await notifier.until(harness, 60)

    life(scenario)
    assert notifier.mail.at == reminders(0, 20, 40, 60)


@pytest.mark.parametrize("is_away", [False, True])
def test_a_clock_that_is_set_back_makes_nobody_wait_for_longer(is_away: bool) -> None:
    """Also while no notifier runs."""
    notifier = Life(route(repeat_interval=20 * 60))

    async def first(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign()
        await harness.read(event())
        await harness.idle()
        if not is_away:
            await goes_on(harness)

    async def second(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign(committed=1)
        await goes_on(harness)

    async def goes_on(harness: Harness) -> None:
        notifier.clock.set_back(3600)
        await harness.tick()
        if is_away:
            notifier.clock.advance(3600)
        notifier.clock.advance(20 * 60)
        await harness.tick()
        await harness.idle()

    life(first)
    if is_away:
        life(second)
    assert [kind for kind, _ in notifier.mail.at] == ["opened", "repeated"]
