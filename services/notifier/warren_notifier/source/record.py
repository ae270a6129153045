"""A record of `warren.lag-status` as it was read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """Where it lies, and its bytes."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
