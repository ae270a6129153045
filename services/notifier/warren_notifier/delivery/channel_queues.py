"""What one channel needs to deliver: its queues, its worker and its digests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from warren.clock import Clock

from warren_notifier.channels.channel import Channel
from warren_notifier.delivery.attempts import Attempts
from warren_notifier.delivery.channel_worker import ChannelWorker, Sleep
from warren_notifier.delivery.digests import Digests
from warren_notifier.delivery.group_queues import GroupQueues
from warren_notifier.delivery.outcome_recorder import OutcomeRecorder
from warren_notifier.delivery.rate_limit import RateLimit
from warren_notifier.delivery.retry_plan import RetryPlan
from warren_notifier.delivery.slots import Slots
from warren_notifier.routing.grouping import Grouping
from warren_notifier.state.owned_state import OwnedState


@dataclass(frozen=True, slots=True)
class ChannelQueues:
    """Builds the queues of channels that share a notifier's state and clock."""

    tasks: asyncio.TaskGroup
    plan: RetryPlan
    recorder: OutcomeRecorder
    owned: OwnedState
    grouping: Grouping
    clock: Clock
    sleep: Sleep
    queue_size: int
    check_lease: Callable[[], None]
    """Raises when nothing may be sent any more."""
    limits: Mapping[str, RateLimit] = field(default_factory=dict)

    def of(self, name: str, channel: Channel) -> GroupQueues:
        slots = Slots(channel.concurrency, self.limits.get(name))
        attempts = Attempts(
            name, channel, self.plan, self.recorder, slots, self.clock, self.check_lease
        )
        digests = Digests(
            name, self.tasks, attempts, self.owned, self.grouping, slots, self.clock, self.sleep
        )
        worker = ChannelWorker(attempts, digests, self.recorder, slots, self.clock, self.sleep)
        return GroupQueues(self.tasks, worker.step, self.queue_size, slots)
