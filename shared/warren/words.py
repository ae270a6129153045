"""Figures in words, as sentences of events have them."""

from __future__ import annotations


def duration(milliseconds: float) -> str:
    """`5 s`, `4 m 12 s`, `2 h 5 m`, `3 d 4 h`."""
    seconds = max(round(milliseconds / 1000), 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} m"
    if minutes:
        return f"{minutes} m {seconds % 60} s"
    return f"{seconds} s" if milliseconds >= 500 else "less than 1 s"


def records(count: int) -> str:
    """`1 record`, `2,101 records`."""
    return "1 record" if count == 1 else f"{count:,} records"


def rate(per_second: float) -> str:
    """`40/s`, `1.5/s`, `12/min`, `3/h`: what is worth reading of it."""
    for factor, unit in ((1, "s"), (60, "min"), (3600, "h")):
        value = per_second * factor
        if value >= 10:
            return f"{round(value):,}/{unit}"
        if value >= 1:
            return f"{value:.1f}".removesuffix(".0") + f"/{unit}"
    return "less than 1/h"
