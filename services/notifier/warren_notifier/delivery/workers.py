"""What one channel needs to deliver: its worker, its attempts and its digests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from warren.clock import Clock

from warren_notifier.channels.channel import Channel
from warren_notifier.delivery.attempts import Attempts
from warren_notifier.delivery.digests import Digests
from warren_notifier.delivery.outcomes import Outcomes
from warren_notifier.delivery.retry_plan import RetryPlan
from warren_notifier.delivery.slots import RateLimit, Slots
from warren_notifier.delivery.worker import Sleep, Worker
from warren_notifier.owned import OwnedSubjects
from warren_notifier.routing.routes import Grouping


async def _known() -> None:
    """Nothing is waited for."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Makes the workers of channels that share a notifier's subjects and clock."""

    tasks: asyncio.TaskGroup
    plan: RetryPlan
    outcomes: Outcomes
    owned: OwnedSubjects
    grouping: Grouping
    clock: Clock
    sleep: Sleep
    queue_size: int
    check_lease: Callable[[], None]
    """Raises when nothing may be sent any more."""
    limits: Mapping[str, RateLimit] = field(default_factory=dict)
    as_now: Callable[[str], str] = str
    """An event's text with what is known of its group now; by default as it is."""
    known: Callable[[], Awaitable[None]] = _known
    """Returns when that is known."""

    def of(self, name: str, channel: Channel) -> Worker:
        slots = Slots(channel.concurrency, self.limits.get(name))
        attempts = Attempts(
            name,
            channel,
            self.plan,
            self.outcomes,
            slots,
            self.clock,
            self.check_lease,
            self.as_now,
            self.known,
        )
        digests = Digests(
            name, self.tasks, attempts, self.owned, self.grouping, slots, self.clock, self.sleep
        )
        return Worker(
            self.tasks, attempts, digests.join, slots, self.clock, self.sleep, self.queue_size
        )
