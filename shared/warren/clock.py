"""Time is passed in, never asked for: every part that needs "now" takes a `Clock`."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now_ms(self) -> int:
        """Wall clock, Unix milliseconds."""

    def monotonic(self) -> float:
        """Seconds that only grow; differences are durations."""


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()
