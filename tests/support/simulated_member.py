"""The demo in simulated time: a group, its topic, and a collector that ticks once a second.

What a behaviour does to the cluster is judged by the evaluator's own code, so a test can watch an
hour of the demo in a second, at any phase between commits, bursts and ticks.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from support.manual_clock import ManualClock
from warren.contracts import OffsetEvent
from warren.contracts.offset_event import TopicPositions
from warren.settings import Settings
from warren_core.evaluation import RuleBook
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.state import GroupGone, GroupState
from warren_local.demo.groups import DemoGroup
from warren_local.demo.member import Leave
from warren_local.demo.workload import FLOWS, Schedule
from warren_local.plan import DemoPorts, Options, make_plan

STEP = 0.01  # seconds
TICK = 1.0
BEGINNING_MS = 1_800_000_000_000
SETTINGS = make_plan(Settings(), Options(), demo_ports=DemoPorts(1, 2, 3)).settings
RULES = RuleBook(SETTINGS.evaluation, SETTINGS.collector).rules_for("demo", "demo-any")


class SimulatedMember:
    """Behaves as Member does; time passes in `consume`, where all else happens as well."""

    def __init__(self, group: DemoGroup, seconds: float, seed: int) -> None:
        self._random = random.Random(seed)
        self._group = group
        self._clock = ManualClock(BEGINNING_MS)
        self._ends = [group.topic.backlog] * group.topic.partitions
        flows = tuple(flow for flow in FLOWS if flow.topic is group.topic)
        self._schedule = Schedule(flows, self._random.uniform(-3, 0)) if flows else None
        self._next_tick = self._random.uniform(0, TICK)
        self._leave_at = seconds
        self._paused: set[int] = set()
        self._commits: list[tuple[dict[int, int], int]] = []
        self._committed: dict[int, tuple[int, int]] = {}
        self._position = 0
        self._state: GroupState | GroupGone | None = None
        self.joined_at = dict.fromkeys(range(group.topic.partitions), 0)
        # Records of all partitions may have come already while the member joined.
        self.next_offsets = dict.fromkeys(self.joined_at, group.topic.backlog)
        self.seen: list[tuple[float, str, frozenset[str]]] = []

    def run(self, behaviour: Callable[[SimulatedMember], None]) -> None:
        """Until the simulation's time is over; a group whose behaviour ends stays away."""
        try:
            behaviour(self)
            while True:
                self._pass(STEP)
        except Leave:
            return

    def stay_away(self, seconds: float) -> None:
        self._pass(seconds)

    def consume(self, seconds: float) -> None:
        self._pass(seconds + self._random.uniform(0, 0.05))
        for partition, end in enumerate(self._ends):
            if partition not in self._paused:
                self.next_offsets[partition] = end

    def pause(self, *partitions: int) -> None:
        self._paused.update(partitions)
        self.next_offsets |= {p: self.joined_at[p] for p in partitions}

    def take_one(self, partition: int, offset: int) -> None:
        assert 0 <= offset < self._ends[partition], "read beyond the log"
        self._pass(self._random.uniform(0, 0.03))

    def await_record(self, partition: int) -> None:
        end = self._ends[partition]
        while self._ends[partition] == end:
            self._pass(STEP)

    def log_range(self, partition: int) -> tuple[int, int]:
        return 0, self._ends[partition]

    def commit(self) -> None:
        self._commits.append((dict(self.next_offsets), self._clock.now_ms()))

    def _pass(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        while self._clock.monotonic() < until:
            self._clock.advance(STEP)
            now = self._clock.monotonic()
            if now > self._leave_at:
                raise Leave
            for flow in self._schedule.take_due(now) if self._schedule else ():
                self._ends = [end + flow.count for end in self._ends]
            if now >= self._next_tick:
                # A tick comes late by up to 0.3 s, and then the next one comes early.
                self._next_tick = round(now) + TICK + self._random.uniform(0, 0.3)
                self._observe()

    def _observe(self) -> None:
        counts = len(self._commits)
        for offsets, at in self._commits:
            self._committed |= {partition: (offset, at) for partition, offset in offsets.items()}
        self._position += counts
        self._commits.clear()
        if not self._committed:
            return
        partitions = range(len(self._ends))
        positions = TopicPositions(
            partition=list(partitions),
            committed=[self._committed[p][0] for p in partitions],
            committed_at=[self._committed[p][1] for p in partitions],
            commits=[counts for _ in partitions],
            log_start=[0 for _ in partitions],
            log_end=self._ends,
        )
        event = OffsetEvent(
            cluster="demo",
            group=self._group.name,
            source="offsets_topic",
            observed_at=self._clock.now_ms(),
            position=self._position,
            topics={self._group.topic.name: positions},
        )
        outcome = judge(event, self._state, RULES)
        assert isinstance(outcome, Judged)
        self._state = outcome.state
        statuses = outcome.lag.topics[self._group.topic.name].status
        bad = frozenset(status for status in statuses if status != "OK")
        self.seen.append((self._clock.monotonic(), outcome.lag.status, bad))
