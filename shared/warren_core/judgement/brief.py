"""What cohorts are made of, an event and what is known of its group, and what they say in short."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from warren.contracts import OffsetEvent, Status
from warren.words import LATEST_MOMENT

from warren_core.evaluation import GroupRules
from warren_core.judgement.judge import Judged
from warren_core.judgement.lags import left_out
from warren_core.judgement.state import GroupGone, GroupState


class Entry(NamedTuple):
    """An event, and what is known of its group."""

    event: OffsetEvent
    state: GroupState | GroupGone | None
    source_offset: int


class Brief(NamedTuple):
    """What was said of a group, but for its partitions, and what is to be remembered of it."""

    state: GroupState
    previous: Status
    complete: float
    total_lag: int
    bad_partitions: int
    reason: str | None
    """Of the worst partition; None when OK."""

    @property
    def status(self) -> Status:
        return self.state.status

    @classmethod
    def of(cls, judged: Judged, previous: Status) -> Brief:
        lag = judged.lag
        statuses = chain.from_iterable(topic.status for topic in lag.topics.values())
        bad = sum(status != Status.OK.name for status in statuses)
        return cls(judged.state, previous, lag.complete, lag.total_lag, bad, lag.reason)


def is_ordinary(entry: Entry, rules: GroupRules) -> bool:
    """Whether a cohort may have it: the event tells where known partitions stand, and no more."""
    event, state = entry.event, entry.state
    if not isinstance(state, GroupState):
        return False
    says_more = event.deleted or event.removed or event.earlier or event.forget is not None
    is_in_range = event.position < 2**63 and 0 <= event.observed_at <= LATEST_MOMENT
    has_track = state.track is not None or rules.group.policy != "progress"
    if not (
        rules.same_for_all_topics
        and not rules.group.has_owners_word
        and has_track
        and state.windows.intervals == rules.group.intervals
        and state.layout.topics
        and not state.forgotten
        and event.parts == 1
        and not says_more
        and is_in_range
        and state.applied.is_before(event, entry.source_offset)
        and not state.applied.was_ahead(event)
        and state.applied.shares_order_with(event)
    ):
        return False
    has = state.layout.has
    for topic, columns in event.topics.items():  # a generator takes twice as long
        if not has(topic, columns.partition):
            return False
    return not left_out(event, state.latest, state.layout)
