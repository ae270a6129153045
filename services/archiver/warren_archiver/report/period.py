"""Periods and groups as people name them, and which hours of a period are taken from gold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from warren.errors import SettingsError
from warren.patterns import searcher

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
EXACT_MS = 3 * HOUR_MS
"""A period up to this is counted without gold."""
_UNITS_MS = {"s": 1000, "m": 60_000, "h": HOUR_MS, "d": DAY_MS}
_LENGTH = re.compile(r"(\d+)([smhd])")
# Before the year 9000 and shorter than 100 years: hours and days around a period have a date too.
_YEARS = range(1970, 9000)
_END_MS = 221_845_392_000_000
_MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Period:
    """[start, end), Unix milliseconds."""

    start_ms: int
    end_ms: int

    @property
    def length_ms(self) -> int:
        return self.end_ms - self.start_ms

    @property
    def days(self) -> list[date]:
        """All that it reaches into, UTC."""
        first, last = _day(self.start_ms), _day(self.end_ms - 1)
        number = (last - first).days + 1 if self.length_ms > 0 else 0
        return [first + timedelta(days=each) for each in range(number)]

    def widened(self, before_ms: int, after_ms: int = 0) -> Period:
        return Period(self.start_ms - before_ms, self.end_ms + after_ms)


class Split(NamedTuple):
    """Whole hours, empty (start = end) where gold is of no use, and what is left over."""

    hours: Period
    rest: tuple[Period, ...]

    @property
    def bounds(self) -> dict[str, int]:
        """Of the hours, as queries name them."""
        return {"hours_start": self.hours.start_ms, "hours_end": self.hours.end_ms}


def split(period: Period, known_until_ms: int | None) -> Split:
    """`known_until_ms`: hours that ended by then are whole in gold."""
    start = -(-period.start_ms // HOUR_MS) * HOUR_MS
    end = min(period.end_ms, known_until_ms or 0) // HOUR_MS * HOUR_MS
    if period.length_ms <= EXACT_MS or start >= end:
        return Split(Period(period.start_ms, period.start_ms), (period,))
    both = (Period(period.start_ms, start), Period(end, period.end_ms))
    return Split(Period(start, end), tuple(each for each in both if each.length_ms > 0))


def parse_length(text: str, option: str = "--last") -> int:
    """Milliseconds of `90s`, `10m`, `2h` or `7d`; raises SettingsError of the option."""
    match = _LENGTH.fullmatch(text.strip())
    length = int(match[1]) * _UNITS_MS[match[2]] if match else 0
    if length <= 0:
        raise SettingsError(option, f"{text!r} is no length of time such as 90s, 10m, 2h or 7d")
    if length > _MOST_DAYS * DAY_MS:
        raise SettingsError(option, f"{text!r} is out of range: at most {_MOST_DAYS}d")
    return length


def parse_moment(text: str, option: str = "--until") -> int:
    """Unix milliseconds of an ISO 8601 time (UTC unless it says otherwise), or of such a number.

    Raises SettingsError of the option.
    """
    try:
        said = text if text.isdigit() else datetime.fromisoformat(text)
        at = int(said) if isinstance(said, str) else _unix_ms(said)
    except ValueError:
        raise SettingsError(
            option, f"{text!r} is no time such as 2026-11-21T07:00:00Z, nor Unix milliseconds"
        ) from None
    if not 0 <= at < _END_MS:
        raise _beyond(option, text)
    return at


def parse_day(text: str) -> Period:
    """The UTC day `2026-11-21`; raises SettingsError."""
    return _period("--day", text, text, "day such as 2026-11-21", 1)


def parse_week(text: str) -> Period:
    """The week `2026-W47`, from Monday (ISO 8601); raises SettingsError."""
    return _period("--week", text, f"{text}-1", "week such as 2026-W47", 7)


def _beyond(option: str, text: str) -> SettingsError:
    return SettingsError(
        option, f"{text!r} is out of range: from {_YEARS.start} to {_YEARS.stop - 1}"
    )


def _period(option: str, text: str, first: str, kind: str, days: int) -> Period:
    """Raises SettingsError."""
    try:
        start = datetime.fromisoformat(f"{first}T00:00:00+00:00")
    except ValueError:
        raise SettingsError(option, f"{text!r} is no {kind}") from None
    if start.year not in _YEARS:
        raise _beyond(option, text)
    return Period(_unix_ms(start), _unix_ms(start) + days * DAY_MS)


def _unix_ms(moment: datetime) -> int:
    """Without a zone it is UTC."""
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _day(at: int) -> date:
    return datetime.fromtimestamp(at / 1000, UTC).date()


def group_matcher(expression: str) -> Callable[[str], bool]:
    """Says whether it is found in a name. Raises SettingsError for what is no expression (RE2)."""
    try:
        return searcher(expression)
    except ValueError as problem:
        raise SettingsError("--group", f"{expression!r} is {problem}") from None
