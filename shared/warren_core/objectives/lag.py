"""Lag of a group as its windows know it, for objectives that ask for records."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from warren.contracts import TopicLag

from warren_core.evaluation import UNKNOWN
from warren_core.judgement.columns import Latest
from warren_core.judgement.lags import lag_of
from warren_core.judgement.state import steps_of
from warren_core.judgement.state_codec import Positions

LATELY_MS = 2 * 60_000


class GroupLag(NamedTuple):
    """By topic: the sum of the known lags, at least, and whether that is all."""

    by_topic: Mapping[str, tuple[int, bool]]

    @property
    def total(self) -> int:
        return sum(lag for lag, _ in self.by_topic.values())


AskLag = Callable[[], GroupLag | None]
"""None: it was not observed lately."""


def group_lag(stands: Positions, now: int) -> GroupLag | None:
    if abs(now - stands.observed_at) > LATELY_MS:
        return None
    lag = lag_of(stands.latest, steps_of(stands.layout, stands.commits))
    start, end = stands.latest[[Latest.LOG_START, Latest.LOG_END]]
    # Nobody knows how far behind it is where nothing was committed, unless the log is empty.
    known = (lag != UNKNOWN) & (~stands.is_assumed | (start == end))
    return GroupLag(
        {
            topic: (int(lag[rows].clip(min=0).sum()), bool(known[rows].all()))
            for topic, _, rows in stands.layout.slices()
        }
    )


def told_lag(topics: Mapping[str, TopicLag]) -> GroupLag:
    """The same of all parts of a lag event."""
    return GroupLag(
        {
            topic: (sum(lag or 0 for lag in rows.lag), all(_is_all(rows)))
            for topic, rows in topics.items()
        }
    )


def _is_all(rows: TopicLag) -> Iterator[bool]:
    """Of each partition, whether its lag is known, and not only at least."""
    places = zip(rows.lag, rows.committed, rows.log_start, rows.log_end, strict=True)
    return (
        lag is not None and (committed >= 0 or start == end)
        for lag, committed, start, end in places
    )
