"""Durations and numbers in the words that pages and sentences use."""

from __future__ import annotations

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def duration(milliseconds: int) -> str:
    """The two largest units: `4 m 12 s`, `3 d 2 h`; below a second `0 s`."""
    seconds = max(milliseconds, 0) // 1000
    for position, (size, unit) in enumerate(_UNITS):
        if seconds >= size or size == 1:
            count, rest = divmod(seconds, size)
            if position + 1 == len(_UNITS):
                return f"{count} {unit}"
            next_size, next_unit = _UNITS[position + 1]
            smaller = rest // next_size
            return f"{count} {unit} {smaller} {next_unit}" if smaller else f"{count} {unit}"
    raise AssertionError("unreachable: the last unit always matches")


def grouped(number: int) -> str:
    """Digits in groups of three, separated by a narrow no-break space (ISO 80000-1)."""
    return f"{number:,}".replace(",", "\u202f")
