"""Nobody is reminded of what he has only just been told: the interval counts for each channel from
when it last heard of the incident.
"""

from typing import Any

import pytest
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, event, route
from notifier.harness import Scripted, play
from support.manual_clock import ManualClock
from warren.contracts import ChannelIdentity
from warren.silences import Silences
from warren_notifier.channels.channel import Refused, Result
from warren_notifier.state.telling import Delivery

REMINDING = [route(repeat_interval=20 * 60)]


class Notified(Scripted):
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
    mail, asked = Notified(clock), put(Silences(), silence(ends_at=OPENED_AT + 18 * MINUTE))
    play({"mail": mail}, event(), *HOUR, routes=REMINDING, clock=clock, silences=asked)
    assert mail.at == reminders(18, 38, 58)


@pytest.mark.parametrize(("restart_at", "refused"), [(60, 0), (60, 2), (15, 0), (21, 0), (30, 0)])
def test_each_is_reminded_at_the_interval_over_a_restart(restart_at: int, refused: int) -> None:
    """Who refused the opening, too."""
    clock = ManualClock(OPENED_AT)
    mail = Notified(clock, *[Refused("HTTP 404")] * refused)
    known: dict[str, Any] = {"routes": REMINDING, "clock": clock}
    log = play({"mail": mail}, event(), *HOUR[:restart_at], **known)
    play({"mail": mail}, *HOUR[restart_at:], log=log, **known)
    assert mail.at == reminders(0, 20, 40, 60)
