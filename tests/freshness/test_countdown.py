from __future__ import annotations

from warren.clock import ManualClock
from warren_freshness.passes.countdown import Countdown


def test_seconds_pass() -> None:
    clock = ManualClock()
    countdown = Countdown(clock, 5)
    assert countdown.left() == 5
    clock.advance(2)
    assert countdown.left() == 3
    clock.advance(4)
    assert countdown.left() == 0


def test_what_happens_in_a_pause_does_not_count() -> None:
    clock = ManualClock()
    countdown = Countdown(clock, 5)
    assert countdown.left() == 5
    clock.advance(2)
    countdown.pause()
    clock.advance(100)
    assert countdown.left() == 3
    clock.advance(1)
    assert countdown.left() == 2
