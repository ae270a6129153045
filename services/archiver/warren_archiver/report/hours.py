"""Which hours of a period are taken from gold, whole, and what is left over at both ends."""

from __future__ import annotations

from typing import NamedTuple

from warren_archiver.report.period import Period

HOUR_MS = 3_600_000
SHORT_MS = 3 * HOUR_MS
"""A period up to this is counted exactly, without gold."""


class Split(NamedTuple):
    """`hours` is empty (start = end) where gold is of no use."""

    hours: Period
    rest: tuple[Period, ...]


def split(period: Period, known_until_ms: int | None) -> Split:
    """`known_until_ms`: hours that ended by then are whole in gold."""
    start = -(-period.start_ms // HOUR_MS) * HOUR_MS
    end = min(period.end_ms, known_until_ms or 0) // HOUR_MS * HOUR_MS
    if period.length_ms <= SHORT_MS or start >= end:
        return Split(Period(period.start_ms, period.start_ms), (period,))
    both = (Period(period.start_ms, start), Period(end, period.end_ms))
    return Split(Period(start, end), tuple(each for each in both if each.length_ms > 0))
