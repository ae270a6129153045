"""Lag of a group as its windows know it, for objectives that ask for records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from warren.evaluation import UNKNOWN
from warren.judgement.lags import lag_of
from warren.judgement.state import GroupState

LATELY_MS = 2 * 60_000


class GroupLag(NamedTuple):
    """By topic: the sum of the known lags, and whether that is all."""

    by_topic: Mapping[str, tuple[int, bool]]

    @property
    def total(self) -> int:
        return sum(lag for lag, _ in self.by_topic.values())


AskLag = Callable[[], GroupLag | None]
"""None: it was not observed lately."""


def group_lag(state: GroupState, now: int) -> GroupLag | None:
    if abs(now - state.applied.observed_at) > LATELY_MS:
        return None
    lag = lag_of(state.latest, state.steps)
    return GroupLag(
        {
            topic: (int(lag[rows].clip(min=0).sum()), bool((lag[rows] != UNKNOWN).all()))
            for topic, _, rows in state.layout.slices()
        }
    )
