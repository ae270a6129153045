"""Rules: what each says of every partition at every look."""

from __future__ import annotations

import numpy as np
from support.detection.simulation import Ints, Recording
from warren.contracts import OffsetEvent, Status, TopicPositions
from warren.evaluation import GroupRules, Rules
from warren.judgement.judge import Judged, judge
from warren.judgement.state import GroupState
from warren.settings import PolicyName

START_MS = 1_795_244_400_000
LAG_ABOVE = 10_000
AGE_ABOVE_S = 300


def by_policy(recording: Recording, policy: PolicyName) -> Ints:
    """[tick, partition] statuses, by the evaluator's own judgement; all are of one group."""
    rules, state = GroupRules(Rules(policy=policy)), None
    said = []
    for tick in range(len(recording.second)):
        state, statuses = _judged(_event(recording, tick), state, rules)
        said.append(statuses)
    return np.array(said, np.int64)


def _judged(
    event: OffsetEvent, state: GroupState | None, rules: GroupRules
) -> tuple[GroupState, list[int]]:
    outcome = judge(event, state, rules)
    assert isinstance(outcome, Judged)
    return outcome.state, [Status[name] for name in outcome.lag.topics["t"].status]


def _event(recording: Recording, tick: int) -> OffsetEvent:
    second, partitions = int(recording.second[tick]), recording.committed.shape[1]
    positions = TopicPositions.model_construct(
        partition=list(range(partitions)),
        committed=recording.committed[tick].tolist(),
        committed_at=(START_MS + recording.committed_at[tick] * 1000).tolist(),
        commits=recording.commits[tick].tolist(),
        log_start=[0] * partitions,
        log_end=recording.log_end[tick].tolist(),
    )
    at = START_MS + second * 1000
    event = OffsetEvent(
        cluster="c", group="g", source="offsets_topic", observed_at=at, position=second
    )
    return event.model_copy(update={"topics": {"t": positions}})


def by_lag(recording: Recording) -> Ints:
    """WARN above so many records."""
    lag = np.where(recording.log_end >= 0, recording.log_end - recording.committed, 0)
    return np.where(lag > LAG_ABOVE, Status.WARN, Status.OK)


def by_age(recording: Recording) -> Ints:
    """WARN where the oldest unread record is older than that; what has no age is not old."""
    said = np.full(recording.committed.shape, Status.OK, np.int64)
    ticks = len(recording.second)
    for p in range(recording.committed.shape[1]):
        came = np.searchsorted(recording.true_end[:, p], recording.committed[:, p], side="right")
        since = recording.second[np.minimum(came, ticks - 1)]
        said[(came < ticks) & (recording.second - since > AGE_ABOVE_S), p] = Status.WARN
    return said
