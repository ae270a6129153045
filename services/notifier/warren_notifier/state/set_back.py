"""A wall clock that is set back: what was to be done at a time would be done that much later."""

from __future__ import annotations

from warren.clock import Clock

LEAST_MS = 1_000  # less is a clock that is being corrected


class SetBack:
    """Compares the wall clock with the monotonic one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at = clock.now_ms(), clock.monotonic()

    def look(self) -> int:
        """Milliseconds by which it was set back since the last look; 0 for none."""
        (wall, monotonic), self._at = self._at, (self._clock.now_ms(), self._clock.monotonic())
        expected = wall + round(1000 * (self._at[1] - monotonic))
        return expected - self._at[0] if expected - self._at[0] > LEAST_MS else 0
