"""How fast topics grow and groups consume them, from observations that follow one another.

Rates are means over about a minute: the newest observation against the oldest of the last minute,
records per second. Until a second one has been seen there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self

from warren.contracts import TopicLag

WINDOW_MS = 60_000
_POINTS_KEPT = 64


class _Point(NamedTuple):
    """Records produced and consumed up to `at` (Unix ms), from an arbitrary zero on."""

    at: int
    produced: int
    consumed: int


class Movement(NamedTuple):
    """Observations of the last minute."""

    points: tuple[_Point, ...]

    @classmethod
    def first(cls, at: int) -> Self:
        return cls((_Point(at, 0, 0),))

    def then(self, at: int, produced: int, consumed: int) -> Self:
        """So many records later. What is not newer than the last is a replay: no change."""
        last = self.points[-1]
        if at <= last.at:
            return self
        newest = _Point(at, last.produced + produced, last.consumed + consumed)
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
        return _rate(last.produced - first.produced, last.at - first.at)

    @property
    def consume_rate(self) -> float | None:
        first, last = self.points[0], self.points[-1]
        return _rate(last.consumed - first.consumed, last.at - first.at)


@dataclass(frozen=True, slots=True)
class TopicProgress:
    """One group on one topic: its newest positions and how they have moved."""

    columns: TopicLag
    movement: Movement

    @classmethod
    def first(cls, columns: TopicLag, at: int) -> Self:
        return cls(columns, Movement.first(at))

    def followed_by(self, columns: TopicLag, at: int) -> Self:
        produced, consumed = _moved(self.columns, columns)
        return type(self)(columns, self.movement.then(at, produced, consumed))

    @property
    def at(self) -> int:
        """When it was last judged, Unix milliseconds."""
        return self.movement.at

    @property
    def produce_rate(self) -> float | None:
        return self.movement.produce_rate

    @property
    def consume_rate(self) -> float | None:
        return self.movement.consume_rate

    @property
    def lag(self) -> int | None:
        """Sum of the known lags; None when none is known."""
        known = [lag for lag in self.columns.lag if lag is not None]
        return sum(known) if known else None

    @property
    def catch_up_ms(self) -> int | None:
        """Until the lag is gone if the rates stay as they are; None when it does not shrink."""
        lag, produced, consumed = self.lag, self.produce_rate, self.consume_rate
        if lag == 0:
            return 0
        if lag is None or produced is None or consumed is None or consumed <= produced:
            return None
        return round(lag * 1000 / (consumed - produced))


def catch_up_ms(topics: Iterable[TopicProgress]) -> int | None:
    """Until the lag of all is gone; None when that of one does not shrink."""
    left = [progress.catch_up_ms for progress in topics]
    known = [milliseconds for milliseconds in left if milliseconds is not None]
    return max(known, default=None) if len(known) == len(left) else None


def steps(before: Iterable[int], after: Iterable[int]) -> int:
    """Sum of the steps forward. Unknown offsets (-1), steps back and what has no counterpart
    before (a new partition) count 0.
    """
    return sum(new - old for old, new in zip(before, after, strict=False) if 0 <= old < new)


def _moved(before: TopicLag, after: TopicLag) -> tuple[int, int]:
    """Records produced and consumed in between."""
    if before.partition == after.partition:
        ends_before, committed_before = before.log_end, before.committed
    else:
        places = {partition: index for index, partition in enumerate(before.partition)}
        known = [places.get(partition) for partition in after.partition]
        ends_before = [-1 if index is None else before.log_end[index] for index in known]
        committed_before = [-1 if index is None else before.committed[index] for index in known]
    return steps(ends_before, after.log_end), steps(committed_before, after.committed)


def _rate(records: int, milliseconds: int) -> float | None:
    return records * 1000 / milliseconds if milliseconds > 0 else None
