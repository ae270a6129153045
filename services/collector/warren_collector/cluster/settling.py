"""Settling: a cluster that was away is not judged before its clients could commit again.

While no broker answers nobody can commit. What is published at the first answer shows every group
where it stood before, for as long as that lasted: an alarm for each, taken back a second later.
"""

from __future__ import annotations

from warren.clock import Clock

AWAY = 5.0
"""Seconds for which a cluster has not answered, or after which it did: less is no outage."""
SETTLES = 10.0
"""Seconds: twice what clients take, by default, from one commit to the next."""


class Settling:
    """Told of every question to the cluster: when it is asked, and what becomes of it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked_at: float | None = None
        self._until: float | None = None

    def asked(self) -> None:
        """Since the first question that was not answered it may be away."""
        if self._asked_at is None:
            self._asked_at = self._clock.monotonic()

    def answered(self) -> bool:
        """Whether it has to settle still. One that is always slow settles every other time."""
        now, asked_at = self._clock.monotonic(), self._asked_at
        self._asked_at = None
        if self._until is not None:
            if now < self._until:
                return True
            self._until = None
            return False
        if asked_at is not None and now - asked_at > AWAY:
            self._until = now + SETTLES
            return True
        return False
