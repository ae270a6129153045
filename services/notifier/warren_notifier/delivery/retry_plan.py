"""What follows an attempt: done, another attempt and when, or the end. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warren.contracts import PendingDelivery

from warren_notifier.channels.channel import Delivered, Refused, Result
from warren_notifier.state.telling import Step

LATE_WAIT = 3_600  # seconds between attempts to deliver an end after its deadline
LONGEST_OWED = 86_400  # seconds that a receiver can put off an end


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """Exponential backoff: `first` seconds, doubled up to `longest`, each shortened by jitter.

    A receiver can put an attempt off up to the deadline.

    What was opened must be closed: an end is not given up at the deadline, only tried less often.
    `jitter` gives numbers from 0 to 1; a wait is between half of the backoff and all of it.
    """

    first: float
    longest: float
    jitter: Callable[[], float]

    def after(
        self, pending: PendingDelivery, result: Result, now: int, backoff: float | None = None
    ) -> Step:
        """`pending` as it was before the attempt that ended at `now` with `result`. `backoff`:
        that of all who were told together.
        """
        counted = pending.model_copy(update={"attempts": pending.attempts + 1})
        if isinstance(result, Delivered):
            return Step(counted, "delivered", result.detail, result.receipt)
        if isinstance(result, Refused):
            return Step(counted, "refused", result.detail)
        soonest = self.backoff(counted.attempts) if backoff is None else backoff
        wait = max(soonest, result.retry_after or 0)
        owed = pending.kind == "resolved"
        if owed:
            wait = min(wait if now < pending.deadline_at else max(wait, LATE_WAIT), LONGEST_OWED)
        at = now + round(wait * 1000)
        if not owed and now + round(soonest * 1000) <= pending.deadline_at < at:
            at = pending.deadline_at  # put off beyond it: one more attempt
        if at > pending.deadline_at and not owed:
            return Step(counted, "given_up", f"{result.detail}; no attempt before the deadline")
        return Step(counted.model_copy(update={"next_attempt_at": at}), "failed", result.detail)

    def backoff(self, attempts: int) -> float:
        """Seconds to wait after so many failed attempts (at least one)."""
        doubled = min(self.first * 2.0 ** min(attempts - 1, 60), self.longest)
        return doubled * (1 + self.jitter()) / 2
