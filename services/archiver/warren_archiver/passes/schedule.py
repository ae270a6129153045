"""When the next pass begins."""

from __future__ import annotations

from warren.clock import Clock

FIRST_PAUSE = 10.0
"""Seconds from a pass that failed to the next one; twice as many each time."""
LONGEST_PAUSE = 600.0
"""As many failures an hour as the alert WarrenArchiverFails looks for, and more."""


class Schedule:
    """Passes begin `every` seconds. One that fails is tried again sooner."""

    def __init__(self, clock: Clock, *, first: float, every: float) -> None:
        """`first`: seconds from now to the first pass."""
        self._clock = clock
        self._every = every
        self._pause = FIRST_PAUSE
        self._due_at = clock.monotonic() + first
        self.problem = ""
        """Why the last pass failed; empty where it did not."""

    @property
    def due_in(self) -> float:
        """Seconds to the next pass."""
        return max(0.0, self._due_at - self._clock.monotonic())

    def begin(self) -> None:
        """A pass begins now."""
        self._due_at = self._clock.monotonic() + self._every

    def end(self, problem: str) -> None:
        """The pass has ended; `problem` is empty where it went well."""
        self.problem = problem
        if not problem:
            self._pause = FIRST_PAUSE
            return
        self._due_at = self._clock.monotonic() + min(self._pause, self._every)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
