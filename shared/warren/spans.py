"""Spans of time as people write them."""

from __future__ import annotations

import re

_SECONDS = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"(\d{1,6})\s*([wdhms])\s*")


def seconds_of(text: str) -> int | None:
    """Of `2h`, `1d12h`, `90m`, `45 s`; None for what is no span."""
    rest, total = text.strip(), 0
    while found := _PART.match(rest):
        total += int(found[1]) * _SECONDS[found[2]]
        rest = rest[found.end() :]
    return None if rest or not total else total
