"""Spans of time as people write them: `2h`, `1d12h`, `90m`, `45 s`."""

from __future__ import annotations

import re

from warren.errors import SettingsError

_SECONDS = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"(\d{1,6})\s*([wdhms])\s*")


def seconds(text: str, option: str) -> int:
    """Raises SettingsError that names `option`."""
    rest, total = text.strip(), 0
    while found := _PART.match(rest):
        total += int(found[1]) * _SECONDS[found[2]]
        rest = rest[found.end() :]
    if rest or not total:
        raise SettingsError(option, f"{text!r} is no span of time such as 2h, 1d12h or 90m")
    return total
