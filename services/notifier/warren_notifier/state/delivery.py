"""A pending delivery, and where it belongs."""

from __future__ import annotations

from dataclasses import dataclass, field

from warren.clock import Clock
from warren.contracts import PendingDelivery

from warren_notifier.routing.change import Subject


@dataclass(slots=True)
class Delivery:
    """A delivery from its decision to its end. `pending`: what it has come to, as it is stored."""

    partition: int
    subject: Subject
    pending: PendingDelivery
    event: str
    """The event's text, as published."""
    receipt: str | None = None
    """What the channel said when it took an earlier delivery of the incident."""
    at_most: int | None = None
    """So many news in the message that tells it, for it was in one that was refused; None: any."""
    _due: tuple[int, float] | None = field(default=None, repr=False)
    """When the next attempt is due: by the wall clock, and by the monotonic one."""

    def wait(self, clock: Clock) -> float:
        """Seconds until the next attempt, from when it was first asked on by both clocks: a wall
        clock that is set back makes nobody wait for longer.
        """
        at = self.pending.next_attempt_at
        by_wall = (at - clock.now_ms()) / 1000
        if self._due is None or self._due[0] != at:
            self._due = at, clock.monotonic() + by_wall
        return min(by_wall, self._due[1] - clock.monotonic())

    def wait_as(self, other: Delivery) -> None:
        """The next attempt is due when that of another one is, which this one replaces."""
        at = other.pending.next_attempt_at
        self.pending = self.pending.model_copy(update={"next_attempt_at": at})
        self._due = other._due
