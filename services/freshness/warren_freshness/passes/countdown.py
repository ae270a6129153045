"""How long a pass may still wait for a cluster."""

from __future__ import annotations

from warren.clock import Clock


class Countdown:
    """Seconds that are left. What this process works on while it is paused does not count: else
    one with many groups would never come to read."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._running_since: float | None = None

    def left(self) -> float:
        """0 when there are none any more; goes on, if it was paused."""
        now = self._clock.monotonic()
        if self._running_since is None:
            self._running_since = now
        return max(self._seconds - (now - self._running_since), 0)

    def pause(self) -> None:
        """Until somebody asks what is left."""
        self._seconds = self.left()
        self._running_since = None
