"""Nobody is reminded of what he has only just been told: the interval counts for each channel from
when it last heard of the incident.
"""

from __future__ import annotations

from typing import Any

import pytest
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, event, route
from notifier.harness import Hanging, Harness, Scripted, play
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import ChannelIdentity
from warren.silences import Silences
from warren_notifier.channels.channel import Refused, Result
from warren_notifier.state.delivery import Delivery

REMINDING = [route(repeat_interval=20 * 60)]


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


def reminders(*minutes: float) -> list[tuple[str, float]]:
    return [("opened", minutes[0]), *(("repeated", minute) for minute in minutes[1:])]


HOUR = [60.0] * 60
"""Each minute all is done that is due."""


def test_what_was_silenced_counts_from_when_it_was_told() -> None:
    clock = ManualClock(OPENED_AT)
    mail, asked = Told(clock), put(Silences(), silence(ends_at=OPENED_AT + 18 * MINUTE))
    play({"mail": mail}, event(), *HOUR, routes=REMINDING, clock=clock, silences=asked)
    assert mail.at == reminders(18, 38, 58)


@pytest.mark.parametrize(("restart_at", "refused"), [(60, 0), (60, 2), (15, 0), (21, 0), (30, 0)])
def test_each_is_reminded_at_the_interval_over_a_restart(restart_at: int, refused: int) -> None:
    """Who refused the opening, too."""
    clock = ManualClock(OPENED_AT)
    mail = Told(clock, *[Refused("HTTP 404")] * refused)
    known: dict[str, Any] = {"routes": REMINDING, "clock": clock}
    log = play({"mail": mail}, event(), *HOUR[:restart_at], **known)
    play({"mail": mail}, *HOUR[restart_at:], log=log, **known)
    assert mail.at == reminders(0, 20, 40, 60)


def test_news_count_when_they_arrive_at_a_receiver_that_was_away() -> None:
    clock, hook = ManualClock(OPENED_AT), Hanging()

    async def is_away(harness: Harness) -> None:
        await until(lambda: hook.sent)
        clock.advance(19 * 60)
        hook.let_go.set()
        harness.start()
        await harness.idle()
        for minute in range(20, 40):
            clock.advance(60)
            await harness.tick()
            await harness.idle()
            assert len(hook.sent) == 1 + (minute == 39)

    play({"mail": hook}, event(), is_away, routes=REMINDING, clock=clock, stopped=True)


@pytest.mark.parametrize("is_away", [False, True])
def test_a_clock_that_is_set_back_makes_nobody_wait_for_longer(is_away: bool) -> None:
    """Also while no notifier runs."""
    clock = ManualClock(OPENED_AT)
    mail = Told(clock)
    known: dict[str, Any] = {"routes": REMINDING, "clock": clock}

    def set_back(_: Harness) -> None:
        clock.set_back(3600)

    steps = (set_back, 0, 20 * 60 + is_away * 3600)
    if is_away:
        log = play({"mail": mail}, event(), **known)
        play({"mail": mail}, *steps, log=log, **known)
    else:
        play({"mail": mail}, event(), *steps, **known)
    assert [kind for kind, _ in mail.at] == ["opened", "repeated"]
