"""Offset events of groups that stand, catch up and go back: some late, some twice."""

from __future__ import annotations

import random
from collections.abc import Sequence

from warren.clock import SystemClock
from warren.contracts import OffsetEvent, TopicPositions, group_key
from warren.contracts.topics import OFFSETS
from warren.kafka.producer import EventProducer
from warren.settings import Settings

CLUSTER, GROUPS, PARTITIONS = "bench", 20, 5
EVERY_MS = 60_000
"""Between two events of a group: some hundred of them reach from one day into the next."""
TWICE, LATE, FAR = 0.02, 0.05, 200
"""Shares of the events; how many others come before one that is late, at most."""


class RestlessLoad:
    """The same ones for the same seed, but for the time at which they end: soon."""

    def __init__(self, settings: Settings, events: int, chance: random.Random) -> None:
        self._settings = settings
        first = SystemClock().now_ms() - events // GROUPS * EVERY_MS
        made = list(_events(events, first, chance))
        made += chance.sample(made, round(len(made) * TWICE))
        places = [
            number + (chance.uniform(0, FAR) if chance.random() < LATE else 0)
            for number in (*range(events), *(chance.uniform(0, events) for _ in made[events:]))
        ]
        order = sorted(range(len(made)), key=places.__getitem__)
        self.events: Sequence[OffsetEvent] = [made[number] for number in order]

    def fill(self, first: int, end: int) -> None:
        """Produce these of the events."""
        name = OFFSETS.full_name(self._settings.home.topic_prefix)
        producer = EventProducer("home", "home", self._settings.home, delivery_timeout=300)
        for event in self.events[first:end]:
            producer.send(name, group_key(event.cluster, event.group), event.to_bytes())
        producer.flush()


def _events(count: int, first: int, chance: random.Random) -> Sequence[OffsetEvent]:
    ends = [[1000] * PARTITIONS for _ in range(GROUPS)]
    committed = [[1000] * PARTITIONS for _ in range(GROUPS)]
    stands = [False] * GROUPS
    made = []
    for number in range(count):
        group, at = number % GROUPS, first + number // GROUPS * EVERY_MS
        if chance.random() < 0.03:
            stands[group] = not stands[group]
        for partition in range(PARTITIONS):
            ends[group][partition] += chance.randrange(200)
            behind = ends[group][partition] - committed[group][partition]
            if not stands[group]:
                committed[group][partition] += min(behind, chance.randrange(260))
            if chance.random() < 0.001:
                committed[group][partition] -= 100
        columns = TopicPositions.model_construct(
            partition=list(range(PARTITIONS)),
            committed=list(committed[group]),
            committed_at=[at - 100] * PARTITIONS,
            commits=[1] * PARTITIONS,
            log_start=[0] * PARTITIONS,
            log_end=list(ends[group]),
        )
        made.append(
            OffsetEvent.model_construct(
                cluster=CLUSTER,
                group=f"group-{group}",
                source="offsets_topic",
                observed_at=at,
                position=number,
                topics={"orders": columns},
            )
        )
    return made
