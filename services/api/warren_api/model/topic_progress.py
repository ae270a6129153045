"""How fast groups consume topics, as the freshness service measured it; and how fast topics grow
that nobody measures, for no group consumes them.

The latter are means over about a minute: the newest list of log ends against the oldest of the last
minute, records per second. Until a second one has been seen there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self

from warren.contracts import TopicFreshness, TopicLag

WINDOW_MS = 60_000
_POINTS_KEPT = 64


class _Point(NamedTuple):
    """Records produced up to `at` (Unix ms), from an arbitrary zero on."""

    at: int
    produced: int


class Movement(NamedTuple):
    """Observations of the last minute."""

    points: tuple[_Point, ...]

    @classmethod
    def first(cls, at: int) -> Self:
        return cls((_Point(at, 0),))

    def then(self, at: int, produced: int) -> Self:
        """So many records later. What is not newer than the last is a replay: no change."""
        last = self.points[-1]
        if at <= last.at:
            return self
        newest = _Point(at, last.produced + produced)
        points = (*self.points, newest)[-_POINTS_KEPT:]
        while len(points) > 2 and points[1].at <= at - WINDOW_MS:
            points = points[1:]
        return type(self)(points)

    @property
    def at(self) -> int:
        """The newest, Unix milliseconds."""
        return self.points[-1].at

    @property
    def produce_rate(self) -> float | None:
        first, last = self.points[0], self.points[-1]
        milliseconds = last.at - first.at
        return (last.produced - first.produced) * 1000 / milliseconds if milliseconds > 0 else None


@dataclass(frozen=True, slots=True)
class TopicProgress:
    """One group on one topic: its newest positions, judged at `at` (Unix ms), and what freshness
    measured there."""

    columns: TopicLag
    at: int
    measured: TopicFreshness | None = None

    @property
    def produce_rate(self) -> float | None:
        """Records per second, as far as known."""
        return _sum(self.measured.produce_rate) if self.measured else None

    @property
    def consume_rate(self) -> float | None:
        return _sum(self.measured.consume_rate) if self.measured else None

    @property
    def lag(self) -> int | None:
        """Sum of the known lags; None when none is known."""
        known = [lag for lag in self.columns.lag if lag is not None]
        return sum(known) if known else None

    @property
    def catch_up_ms(self) -> int | None:
        """Until the slowest partition's lag is gone if the rates stay as they are; None when that
        of one does not shrink, or is unknown."""
        if self.measured is None:
            return None
        rows = zip(self.measured.time_to_catch_up_ms, self.measured.reason, strict=True)
        left = [milliseconds for milliseconds, reason in rows if reason != "no_commit"]
        known = [milliseconds for milliseconds in left if milliseconds is not None]
        return max(known, default=None) if len(known) == len(left) else None


def steps(before: Iterable[int], after: Iterable[int]) -> int:
    """Sum of the steps forward. Unknown offsets (-1), steps back and what has no counterpart
    before (a new partition) count 0.
    """
    return sum(new - old for old, new in zip(before, after, strict=False) if 0 <= old < new)


def _sum(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None
