"""Trends: what each minute of a group was like, told with its first evaluation after the minute.

Nothing here is stored. A worker that dies has told nothing of the minute that was not over, so
the next one tells of less than a minute; the log ends and committed offsets that it begins with
are those of the table, so nothing is counted twice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from warren.contracts import (
    MINUTE_MS,
    FreshnessEvent,
    GroupStatusName,
    LagEvent,
    TopicLag,
    TrendEvent,
    TrendTopics,
    group_name,
    split_group_key,
)
from warren.settings import CollectorSettings
from warren_core.evaluation import UNKNOWN, Int64
from warren_core.judgement.columns import Latest, Layout
from warren_core.judgement.membership import Membership
from warren_core.judgement.state import GroupGone, GroupState

MOST_TOPICS = 100
MOST_MINUTES = 3  # of measurements, until the group's evaluation asks for them
_MOVING = [Latest.COMMITTED, Latest.LOG_END]


def believed_ms(collector: CollectorSettings) -> int:
    """For how long an evaluation is believed: silent groups are judged at every heartbeat."""
    return round((3 * collector.heartbeat + collector.interval) * 1000)


class Late(NamedTuple):
    """Of a minute: the greatest lateness, the least time until loss, lateness by topic."""

    late_ms: int | None
    time_to_loss_ms: int | None
    topics: dict[str, int]


@dataclass(slots=True)
class Minute:
    """One that is not over. `latest`: [committed or log end, partition] when it began; None for a
    group that was not known. `until`: what it has been told of, Unix milliseconds. `is_known`:
    whether the status of the last evaluation is.
    """

    at: int
    until: int
    layout: Layout
    latest: Int64 | None
    status_ms: dict[GroupStatusName, int] = field(default_factory=dict)
    lag: int | None = None
    lag_max: int | None = None
    lags: dict[str, int | None] = field(default_factory=dict)
    is_known: bool = True


class Trends:
    """Of the groups of this worker. `believed_ms`: for how long an evaluation is believed when no
    other follows.
    """

    def __init__(
        self, believed_ms: int, membership_of: Callable[[bytes], Membership | None] = lambda _: None
    ) -> None:
        self._believed_ms = believed_ms
        self._membership_of = membership_of
        self._minutes: dict[bytes, Minute] = {}
        self._lates: dict[bytes, dict[int, Late]] = {}

    def measured(self, key: bytes, event: FreshnessEvent) -> None:
        """Takes in how late a group was found to be."""
        at = event.measured_at - event.measured_at % MINUTE_MS
        minutes = self._lates.setdefault(key, {})
        minutes[at] = _worse(minutes.get(at), event)
        while len(minutes) > MOST_MINUTES:
            del minutes[min(minutes)]

    def after(
        self,
        key: bytes,
        before: GroupState | GroupGone | None,
        state: GroupState | GroupGone,
        lag: LagEvent | None,
    ) -> list[TrendEvent]:
        """Minutes that are over once the group has come from one state to the other. `lag`: its
        evaluation, None where there is none.
        """
        minute = self._minutes.get(key)
        if not isinstance(before, GroupState):
            minute = before = None
        elif minute is not None and minute.until != before.applied.observed_at:
            minute = None  # others have judged the group since
        if isinstance(state, GroupGone):
            self._minutes.pop(key, None)
            minutes = [self._minute(key, minute, before)] if minute and before else []
            self._lates.pop(key, None)
            return minutes
        minutes = []
        now = state.applied.observed_at
        is_known = minute is None or minute.is_known
        if minute is not None and before is not None and now >= minute.at + MINUTE_MS:
            minutes = list(self._over(key, minute, before, now))
            minute = None
        if minute is None:
            at = now - now % MINUTE_MS
            known = None if before is None else before.latest[_MOVING]
            layout = state.layout if before is None else before.layout
            minute = self._minutes[key] = Minute(at, now, layout, known, is_known=is_known)
        if before is not None:
            self._spend(minute, before, now)
        minute.until = now
        if lag is not None:
            _see(minute, lag)
        return minutes

    def _spend(self, minute: Minute, before: GroupState, now: int) -> None:
        """The time since the evaluation before, as far as it is the minute's and not too long."""
        since = before.applied.observed_at
        if now - since > self._believed_ms or not minute.is_known:
            return
        spent = min(now, minute.at + MINUTE_MS) - max(since, minute.at)
        if spent > 0:
            name = group_name(before.status)
            minute.status_ms[name] = minute.status_ms.get(name, 0) + spent

    def _over(
        self, key: bytes, minute: Minute, before: GroupState, now: int
    ) -> Iterator[TrendEvent]:
        """The minute, and those after it in which nothing was heard of the group."""
        self._spend(minute, before, now)
        yield self._minute(key, minute, before)
        if now - before.applied.observed_at > self._believed_ms:
            return
        for at in range(minute.at + MINUTE_MS, now - now % MINUTE_MS, MINUTE_MS):
            silent = Minute(at, now, before.layout, None, lag=minute.lag, lag_max=minute.lag)
            silent.lags, silent.is_known = minute.lags, minute.is_known
            self._spend(silent, before, now)
            yield self._minute(key, silent, before)

    def _minute(self, key: bytes, minute: Minute, end: GroupState) -> TrendEvent:
        cluster, group = split_group_key(key)
        late = self._lates.get(key, {}).pop(minute.at, None)
        membership = self._membership_of(key)
        produced, consumed = _moved(minute, end)
        topics = sorted(minute.lags, key=lambda topic: -(minute.lags[topic] or 0))[:MOST_TOPICS]
        lates = {} if late is None else late.topics
        is_alone = len(minute.lags) == 1
        # All is known to be what it should be, and each list to be as long as the others.
        return TrendEvent.model_construct(
            v=1,
            cluster=cluster,
            group=group,
            minute=minute.at,
            status_ms=minute.status_ms,
            lag=minute.lag,
            lag_max=minute.lag_max,
            late_ms=None if late is None else late.late_ms,
            time_to_loss_ms=None if late is None else late.time_to_loss_ms,
            produced=_sum(produced),
            consumed=_sum(consumed),
            members=None if membership is None else len(membership.members),
            rebalances=None
            if membership is None
            else sum(minute.at <= at < minute.at + MINUTE_MS for at in membership.rebalanced_at),
            topics=TrendTopics.model_construct(
                topic=topics,
                lag=[minute.lag if is_alone else minute.lags[topic] for topic in topics],
                produced=[produced.get(topic) for topic in topics],
                consumed=[consumed.get(topic) for topic in topics],
                late_ms=[lates.get(topic) for topic in topics],
            ),
        )


def _lag(columns: TopicLag) -> int | None:
    """Of a topic; None where that of some partition is unknown."""
    rows = zip(columns.lag, columns.committed, strict=True)
    if any(lag is None and committed >= 0 for lag, committed in rows):
        return None
    return sum(lag for lag in columns.lag if lag is not None)


def _see(minute: Minute, lag: LagEvent) -> None:
    """A sum of which nothing is known is none; of what is known in part it is what that is."""
    minute.is_known = lag.is_known
    minute.lag = None if lag.unknown_partitions and not lag.total_lag else lag.total_lag
    if minute.lag is not None:
        minute.lag_max = max(minute.lag, minute.lag_max or 0)
    if len(lag.topics) == 1:
        minute.lags = dict.fromkeys(lag.topics)
    else:
        minute.lags = {topic: _lag(columns) for topic, columns in lag.topics.items()}


def _worse(before: Late | None, event: FreshnessEvent) -> Late:
    """The worse of what was measured in one minute."""
    late, loss, topics = before or Late(None, None, {})
    for topic, rows in event.topics.items():
        # Where the age is unknown, the bound is what it is at least.
        own = [
            ms
            for age, bound in zip(rows.freshness_ms, rows.bound_ms, strict=True)
            if (ms := bound if age is None else age) is not None
        ]
        if own:
            topics[topic] = max(*own, topics.get(topic, 0))
    group = [ms for ms in (late, event.freshness_ms, event.at_least_ms) if ms is not None]
    left = [ms for ms in (loss, event.time_to_loss_ms) if ms is not None]
    return Late(max(group, default=None), min(left, default=None), topics)


Moved = dict[str, int | None]


def _moved(minute: Minute, end: GroupState) -> tuple[Moved, Moved]:
    """Records produced and consumed since the minute began, by topic; what nobody knows is None.

    What was taken back since (a reset, a truncated log) does not count against them.
    """
    produced: Moved = {}
    consumed: Moved = {}
    if minute.latest is None:
        return produced, consumed
    begun = minute.latest
    if minute.layout != end.layout:
        rows = minute.layout.rows_of(end.layout)
        nothing = np.full((len(begun), 1), UNKNOWN)  # which MISSING, as the last one, stands for
        begun = np.concatenate([begun, nothing], axis=1)[:, rows]
    steps = end.latest[_MOVING] - begun
    known = (begun != UNKNOWN) & (end.latest[_MOVING] != UNKNOWN)
    steps = np.where(known, np.maximum(steps, 0), 0)
    for topic, _, rows_ in end.layout.slices():
        for moved, which in ((consumed, 0), (produced, 1)):
            is_known = bool(known[which, rows_].any())
            moved[topic] = int(steps[which, rows_].sum()) if is_known else None
    return produced, consumed


def _sum(moved: Moved) -> int | None:
    known = [count for count in moved.values() if count is not None]
    return sum(known) if known else None
