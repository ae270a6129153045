"""The lag of a group by its last commits: something to see before it was watched for a minute."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from markupsafe import Markup
from warren.contracts import LagEvent

from warren_api.model.windows import windows
from warren_api.pages.charts import Line, chart, count_of

POINTS = 10

Commits = Sequence[tuple[int, int]]
"""When, Unix milliseconds, and the lag then; by time."""


class FirstPoints(NamedTuple):
    """Unix milliseconds; `lag`: a chart."""

    start: int
    end: int
    lag: Markup


def first_points(event: LagEvent) -> FirstPoints | None:
    """Of all partitions together, at moments from when something is known of each; None where
    that is one moment, or none.
    """
    known = [
        commits
        for partitions in windows(event).values()
        for slots in partitions.values()
        if (commits := sorted((e.at, e.lag) for e in slots if e is not None and e.lag is not None))
    ]
    start = max((commits[0][0] for commits in known), default=0)
    end = max((commits[-1][0] for commits in known), default=0)
    if start >= end:
        return None
    moments = [start + (end - start) * n // (POINTS - 1) for n in range(POINTS)]
    line = Line("lag", "lag", [sum(_lag_at(each, at) for each in known) for at in moments])
    drawn = chart("Lag by the last commits", [line], count_of, at=[_clock(at) for at in moments])
    return FirstPoints(start, end, drawn)


def _lag_at(commits: Commits, at: int) -> int:
    """Of the newest commit until then."""
    return commits[bisect_right(commits, at, key=lambda commit: commit[0]) - 1][1]


def _clock(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC):%H:%M:%S} UTC"
