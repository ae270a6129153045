"""Clocks."""

from __future__ import annotations

from warren.clock import Clock, ManualClock, SystemClock


def test_a_manual_clock_moves_when_told() -> None:
    clock: Clock = ManualClock(1_000)
    before = clock.monotonic()
    assert isinstance(clock, ManualClock)
    clock.advance(2.5)
    assert clock.now_ms() == 3_500
    assert clock.monotonic() - before == 2.5


def test_the_system_clock_goes_forward() -> None:
    clock: Clock = SystemClock()
    assert clock.now_ms() > 1_700_000_000_000
    assert clock.monotonic() <= clock.monotonic()
