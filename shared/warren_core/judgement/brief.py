"""What was said of a group, in short."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from warren.contracts import Status

from warren_core.judgement.judge import Judged
from warren_core.judgement.state import GroupState


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
