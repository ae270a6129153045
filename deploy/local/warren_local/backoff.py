"""How long to wait before a service that died is started again."""

from __future__ import annotations

FIRST = 0.5  # seconds
LONGEST = 10.0
STABLE_AFTER = 30.0  # a service that lived so long starts over with the first delay


class Backoff:
    """Doubles from FIRST to LONGEST seconds, and forgets after a long life."""

    def __init__(self) -> None:
        self._next = FIRST

    def delay(self, lived: float) -> float:
        """Seconds to wait, given how many seconds the process lived."""
        if lived >= STABLE_AFTER:
            self._next = FIRST
        delay = self._next
        self._next = min(2 * delay, LONGEST)
        return delay
