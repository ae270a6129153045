"""A time in steps, of which the past is told."""

from __future__ import annotations

from typing import NamedTuple

from warren.contracts import MINUTE_MS

HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
STEPS = (MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS)
"""The lengths that are chosen from, milliseconds."""


class Period(NamedTuple):
    """Whole steps of [start, end), Unix milliseconds."""

    start: int
    end: int
    step: int

    @property
    def steps(self) -> list[int]:
        return list(range(self.start, self.end, self.step))


def in_whole_steps(start: int, end: int, step: int) -> Period:
    """Widened to them."""
    return Period(start - start % step, end + -end % step, step)


def shortest_step(length: int, most: int) -> int:
    """Of which fewer than `most` are that long, milliseconds."""
    return next((step for step in STEPS if length // step < most), DAY_MS)


def before_a_day(asked: Period, now: int) -> Period | None:
    """Its whole steps that the model has forgotten, or partly; None where it has them all."""
    known_from = now - now % MINUTE_MS - DAY_MS + MINUTE_MS
    end = min(known_from + -known_from % asked.step, asked.end)
    return Period(asked.start, end, asked.step) if asked.start < known_from else None
