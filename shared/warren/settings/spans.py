"""Spans of time in settings: seconds, or as people write them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from warren.section import Seconds

_SECONDS = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"(\d{1,6})\s*([wdhms])\s*")


def _in_seconds(value: Any) -> Any:
    """Of `24h`, `1d12h`, `90 m`; anything else is left to those who want a number."""
    if not isinstance(value, str):
        return value
    rest, total = value.strip(), 0
    while found := _PART.match(rest):
        total += int(found[1]) * _SECONDS[found[2]]
        rest = rest[found.end() :]
    if rest or not total:
        raise ValueError(f"{value!r} is no span of time: write seconds, or 24h, 1d12h, 10m")
    return total


Span = Annotated[Seconds, BeforeValidator(_in_seconds)]
