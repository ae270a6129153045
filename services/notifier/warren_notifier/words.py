"""Times, durations and numbers in the words that mails use."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def utc(milliseconds: int) -> str:
    """`2026-11-21 07:00:00 UTC`; `never` when there is no time."""
    if milliseconds < 0:
        return "never"
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(milliseconds: int) -> str:
    """The two largest units: `12 minutes`, `2 hours 5 minutes`."""
    seconds = max(milliseconds, 0) // 1000
    parts = []
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(_counted(count, unit))
        elif parts:
            break
    return " ".join(parts[:2]) or "0 seconds"


def number(value: int | None) -> str:
    """`2,140`; `unknown` for None and Kafka's -1."""
    return "unknown" if value is None or value < 0 else f"{value:,}"


def records(value: int | None) -> str:
    """`1 record`, `2,140 records`."""
    return f"{number(value)} record{'' if value == 1 else 's'}"


def one_line(text: str) -> str:
    """Without line breaks and control characters: group names may hold any."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'}"
