"""What is produced while the demo runs: when, where, how much."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from warren.clock import Clock

from warren_local.demo.topics import (
    CLICKS,
    INVOICES,
    ORDERS,
    PAYMENTS,
    SENSORS,
    SHIPMENTS,
    DemoTopic,
    Feed,
)


@dataclass(frozen=True, slots=True)
class Flow:
    """`count` records to each partition, every `every` seconds, the first after `first`."""

    topic: DemoTopic
    every: float
    first: float
    count: int


FLOWS = (
    # Bursts with pauses: who keeps up is at lag zero most of the time. Longer than two commits
    # (1.2 s each), so that at most every other commit sees a fresh burst.
    Flow(ORDERS, every=3.0, first=1.0, count=20),
    Flow(SHIPMENTS, every=3.0, first=2.5, count=5),
    # An even trickle, faster than its consumer: see `slow` in behaviours.py.
    Flow(PAYMENTS, every=0.1, first=0.1, count=1),
    Flow(INVOICES, every=1.0, first=0.5, count=1),
    Flow(CLICKS, every=1.0, first=0.7, count=1),
    Flow(SENSORS, every=1.0, first=0.3, count=2),
)


class Schedule:
    """Which flows are due; a missed turn is not made up for."""

    def __init__(self, flows: tuple[Flow, ...], now: float) -> None:
        self._flows = flows
        self._due_at = [now + flow.first for flow in flows]

    def take_due(self, now: float) -> list[Flow]:
        """The flows whose turn it is at `now` (monotonic seconds)."""
        due = [number for number, at in enumerate(self._due_at) if at <= now]
        for number in due:
            self._due_at[number] = max(self._due_at[number] + self._flows[number].every, now)
        return [self._flows[number] for number in due]

    def seconds_to_next(self, now: float) -> float:
        return max(min(self._due_at) - now, 0.0)


def produce(feed: Feed, clock: Clock, stop: threading.Event) -> None:
    """Produce until told to stop; raises KafkaException when the cluster does not take it."""
    schedule = Schedule(FLOWS, clock.monotonic())
    while not stop.wait(schedule.seconds_to_next(clock.monotonic())):
        for flow in schedule.take_due(clock.monotonic()):
            for partition in range(flow.topic.partitions):
                feed.send(flow.topic.name, partition, flow.count)
    feed.flush()
