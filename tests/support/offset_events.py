"""Offset events, briefly written, and their judgement from nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warren.contracts import OffsetEvent, TopicPositions
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Ended, Judged, Outcome, Taken, judge
from warren_core.judgement.state import GroupGone, GroupState

NOW = 1_795_244_400_000
MINUTE = 60_000


@dataclass(frozen=True)
class At:
    """One partition as an event has it. `log_end` is a lag ahead of the committed offset."""

    committed: int
    committed_at: int
    lag: int = 0
    commits: int = 1
    log_start: int = 0
    log_end: int | None = None

    @property
    def end(self) -> int:
        return self.committed + self.lag if self.log_end is None else self.log_end


def positions(partitions: Mapping[int, At]) -> TopicPositions:
    ats = list(partitions.values())
    return TopicPositions(
        partition=list(partitions),
        committed=[at.committed for at in ats],
        committed_at=[at.committed_at for at in ats],
        commits=[at.commits for at in ats],
        log_start=[at.log_start for at in ats],
        log_end=[at.end for at in ats],
    )


def offset_event(
    observed_at: int,
    topics: Mapping[str, Mapping[int, At]] | None = None,
    *,
    group: str = "billing",
    position: int | None = None,
    **more: Any,
) -> OffsetEvent:
    """`position` follows from the time unless it is given."""
    return OffsetEvent(
        cluster="prod",
        group=group,
        observed_at=observed_at,
        position=observed_at - NOW + 1_000_000 if position is None else position,
        topics={topic: positions(parts) for topic, parts in (topics or {}).items()},
        **{"source": "offsets_topic", **more},
    )


def commits(*lags: int, step_ms: int = MINUTE, advance: int = 10) -> list[OffsetEvent]:
    """One event per lag: orders/0 commits, `advance` further and `step_ms` later each time."""
    return [
        offset_event(
            NOW + i * step_ms, {"orders": {0: At(100 + i * advance, NOW + i * step_ms, lag)}}
        )
        for i, lag in enumerate(lags)
    ]


def heartbeat(minute: float, lag: int, **more: Any) -> OffsetEvent:
    """orders/0 as it was after `commits(…, …, …)`, without a new commit."""
    at = At(120, NOW + 2 * MINUTE, lag, commits=0)
    return offset_event(NOW + round(minute * MINUTE), {"orders": {0: at}}, **more)


@dataclass
class Judge:
    """Folds events of one group, as the evaluator does."""

    rules: Rules | GroupRules = field(default_factory=Rules)
    state: GroupState | GroupGone | None = None
    knowledge: Knowledge = field(default_factory=Knowledge)

    def __call__(self, event: OffsetEvent) -> Outcome:
        rules = GroupRules(self.rules) if isinstance(self.rules, Rules) else self.rules
        outcome = judge(event, self.state, rules, source_offset=7, knowledge=self.knowledge)
        if isinstance(outcome, Judged | Ended | Taken):
            self.state = outcome.state
        return outcome

    def judged(self, event: OffsetEvent) -> Judged:
        outcome = self(event)
        assert isinstance(outcome, Judged)
        return outcome

    def all(self, events: Iterable[OffsetEvent]) -> list[Judged]:
        return [self.judged(event) for event in events]
