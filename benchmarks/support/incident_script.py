"""A script of groups in trouble: each stops once, is late once, and comes close to losing records.

What is published is what a collector and a freshness service would say, look by look: nobody else
is needed to make an evaluator open three incidents of three kinds for every group, and close them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warren.contracts import FreshnessEvent, OffsetEvent, TopicFreshness, TopicPositions

STEP_MS = 5_000
CLUSTER = "prod"
TOPIC = "orders"
PARTITIONS = 2
EACH = 50  # records a partition gets between two looks
WELL = 15  # looks until the first trouble
STOPS = 40  # looks without a commit
LATE = 30  # looks that it is late, then that it is about to lose records
CALM = 25  # looks of peace after each, so that what was opened is closed
SPREAD = 60  # looks between the first group's trouble and the last one's
LOOKS = WELL + STOPS + CALM + LATE + CALM + LATE + CALM + SPREAD
KINDS = (
    "warren.group.status.changed",
    "warren.group.freshness.changed",
    "warren.group.retention.changed",
)


@dataclass(frozen=True, slots=True)
class ScriptedTrouble:
    """One group of `groups`; times begin at `start`, Unix milliseconds."""

    number: int
    groups: int
    start: int

    @property
    def name(self) -> str:
        return f"group-{self.number:04d}"

    def offsets(self, look: int) -> OffsetEvent:
        now, end = self._now(look), (look + 1) * EACH
        since = self._since(look)
        commits = not 0 <= since < STOPS
        last = look if commits else look - since - 1
        return OffsetEvent(
            cluster=CLUSTER,
            group=self.name,
            source="offsets_topic",
            observed_at=now,
            position=look,
            topics={
                TOPIC: TopicPositions(
                    partition=list(range(PARTITIONS)),
                    committed=[end, (last + 1) * EACH],
                    committed_at=[now, self._now(last)],
                    commits=[1, int(commits)],
                    log_start=[0] * PARTITIONS,
                    log_end=[end] * PARTITIONS,
                )
            },
        )

    def freshness(self, look: int) -> FreshnessEvent:
        now, since = self._now(look), self._since(look) - STOPS - CALM
        is_late = 0 <= since < LATE
        loses_soon = 0 <= since - LATE - CALM < LATE
        late_ms = 3_600_000 if is_late else 1_000
        left_ms = 600_000 if loses_soon else 86_400_000
        nobody_knows: Any = [None] * PARTITIONS
        return FreshnessEvent(
            cluster=CLUSTER,
            group=self.name,
            measured_at=now,
            observed_at=now,
            freshness_ms=late_ms,
            lost_records=0,
            time_to_loss_ms=left_ms,
            time_to_loss_reason="retention_ms",
            topics={
                TOPIC: TopicFreshness(
                    partition=list(range(PARTITIONS)),
                    committed=[(look + 1) * EACH - 1] * PARTITIONS,
                    freshness_ms=[late_ms] * PARTITIONS,
                    reason=["exact"] * PARTITIONS,
                    bound_ms=[0] * PARTITIONS,
                    lost_records=[0] * PARTITIONS,
                    time_to_loss_ms=[left_ms] * PARTITIONS,
                    time_to_loss_reason=["retention_ms"] * PARTITIONS,
                    retention_left=[left_ms / 86_400_000] * PARTITIONS,
                    oldest_at=[now - late_ms] * PARTITIONS,
                    commit_lag_ms=nobody_knows,
                    append_lag_ms=nobody_knows,
                    produce_rate=nobody_knows,
                    consume_rate=nobody_knows,
                    time_to_catch_up_ms=nobody_knows,
                    late_since=nobody_knows,
                )
            },
        )

    def _since(self, look: int) -> int:
        """Looks since its trouble began; negative before."""
        return look - WELL - self.number * SPREAD // self.groups

    def _now(self, look: int) -> int:
        return self.start + look * STEP_MS
