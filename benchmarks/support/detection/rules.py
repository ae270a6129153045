"""Rules: what each says of every partition at every look."""

from __future__ import annotations

import numpy as np
from support.detection.simulation import UNKNOWN, Ints, Recording
from warren.contracts import OffsetEvent, Status, TopicPositions
from warren.evaluation import GroupRules, Rules
from warren.judgement.cohort import Brief, Entry, is_ordinary, judge_together
from warren.judgement.judge import Judged, judge
from warren.judgement.state import GroupGone, GroupState
from warren.settings import PolicyName

START_MS = 1_795_244_400_000
LAG_ABOVE = 10_000
AGE_ABOVE_S = 300


STATES = {0: "Empty", 1: "PreparingRebalance", 2: "Stable"}
# A group says how bad it is, and why: its only partition's status.
STATUSES = {
    None: Status.OK,
    "no_commit": Status.STOP,
    "no_progress": Status.STALL,
    "rewind": Status.REWIND,
    "beyond_log_end": Status.BEYOND_END,
}


def by_policy(recording: Recording, policy: PolicyName) -> Ints:
    """[tick, partition] statuses, by the evaluator's own judgement; each is a group of its own."""
    rules = GroupRules(Rules(policy=policy))
    states: list[GroupState | None] = [None] * recording.committed.shape[1]
    said = np.empty(recording.committed.shape, np.int64)
    for tick in range(len(recording.second)):
        events = _events(recording, tick)
        entries = [Entry(e, state, UNKNOWN) for e, state in zip(events, states, strict=True)]
        ordinary = [p for p, entry in enumerate(entries) if is_ordinary(entry, rules)]
        together = judge_together([entries[p] for p in ordinary], rules.group)
        briefs = dict(zip(ordinary, together, strict=True))
        for p, entry in enumerate(entries):
            brief = briefs.get(p) or _judged(entry, rules)
            states[p], said[tick, p] = brief.state, STATUSES.get(brief.reason, Status.WARN)
    return said


def _judged(entry: Entry, rules: GroupRules) -> Brief:
    assert not isinstance(entry.state, GroupGone)
    outcome = judge(entry.event, entry.state, rules)
    assert isinstance(outcome, Judged)
    return Brief.of(outcome, Status.OK)


def _events(recording: Recording, tick: int) -> list[OffsetEvent]:
    second = int(recording.second[tick])
    columns = zip(
        recording.committed[tick].tolist(),
        (START_MS + recording.committed_at[tick] * 1000).tolist(),
        recording.commits[tick].tolist(),
        recording.log_end[tick].tolist(),
        recording.presence[tick].tolist(),
        strict=True,
    )
    return [_event(second, *values) for values in columns]


def _event(
    second: int, committed: int, committed_at: int, commits: int, log_end: int, presence: int
) -> OffsetEvent:
    positions = TopicPositions.model_construct(
        partition=[0],
        committed=[committed],
        committed_at=[committed_at],
        commits=[commits],
        log_start=[0],
        log_end=[log_end],
    )
    return OffsetEvent.model_construct(
        cluster="c",
        group="g",
        source="offsets_topic",
        observed_at=START_MS + second * 1000,
        position=second,
        topics={"t": positions},
        group_state=STATES.get(presence),
    )


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
