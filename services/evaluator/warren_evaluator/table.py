"""What the worker keeps by key, and may wait for until it is stored."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol


class Table(Protocol):
    """Where windows, or members, are kept."""

    def read(self, key: bytes) -> bytes | None: ...

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]: ...
