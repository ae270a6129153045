"""Figures in words: one way for events, pages, mails and the terminal."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def duration(milliseconds: float) -> str:
    """The two largest units: `5 s`, `4 m 12 s`, `2 h`, `3 d 4 h`; nothing negative."""
    seconds = int(max(milliseconds, 0) // 1000)
    if not seconds:
        return "less than 1 s" if milliseconds > 0 else "0 s"
    position = next(place for place, (size, _) in enumerate(_UNITS) if seconds >= size)
    parts = []
    for size, unit in _UNITS[position : position + 2]:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts)


def grouped(number: int) -> str:
    """Digits in groups of three: `2,101`."""
    return f"{number:,}"


def records(count: int | None) -> str:
    """`1 record`, `2,101 records`; `unknown records` for None and Kafka's -1."""
    if count is None or count < 0:
        return "unknown records"
    return "1 record" if count == 1 else f"{grouped(count)} records"


def utc(milliseconds: int) -> str:
    """`2026-11-21 07:00:00 UTC`; `never` when there is no time."""
    if milliseconds < 0:
        return "never"
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def rate(per_second: float) -> str:
    """`40/s`, `1.5/s`, `12/min`, `3/h`: what is worth reading of it."""
    for factor, unit in ((1, "s"), (60, "min"), (3600, "h")):
        value = per_second * factor
        if value >= 10:
            return f"{grouped(round(value))}/{unit}"
        if value >= 1:
            return f"{value:.1f}".removesuffix(".0") + f"/{unit}"
    return "less than 1/h"
