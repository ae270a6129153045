"""Spans of time in settings: seconds, or as people write them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from warren.section import Seconds
from warren.spans import seconds_of


def _in_seconds(value: Any) -> Any:
    """What is no text is left to those who want a number."""
    if not isinstance(value, str):
        return value
    if (seconds := seconds_of(value)) is None:
        raise ValueError(f"{value!r} is no span of time: write seconds, or 24h, 1d12h, 10m")
    return seconds


Span = Annotated[Seconds, BeforeValidator(_in_seconds)]
