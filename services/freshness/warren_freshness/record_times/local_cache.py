"""What was read of records, in memory: what nobody has asked for lately goes first."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import islice, takewhile
from typing import Generic, TypeVar

from warren.clock import Clock

ENTRIES = 200_000  # record times kept in memory, per cluster; what was not asked for lately goes
SECONDS = 600.0  # that a record time is kept in Redis, and in memory after it was asked for last
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LocalCache(Generic[Key, Value]):
    """At most `entries` values, each until nobody has asked for it for `ttl` seconds."""

    def __init__(self, entries: int, ttl: float, clock: Clock) -> None:
        self._most = entries
        self._ttl = ttl
        self._clock = clock
        # In the order of their times: a value that is asked for has new time when half is over.
        self._entries: dict[Key, tuple[Value, float]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """Those that are there."""
        now = self._clock.monotonic()
        half = now + self._ttl / 2
        found: dict[Key, Value] = {}
        for key in keys:
            entry = self._entries.get(key)
            if entry is None or entry[1] <= now:
                continue
            found[key] = entry[0]
            if entry[1] < half:
                self._put(key, entry[0], now + self._ttl)
        return found

    def put_many(self, entries: Mapping[Key, Value]) -> None:
        now = self._clock.monotonic()
        until = now + self._ttl
        for key, value in entries.items():
            self._put(key, value, until)
        self._drop(list(takewhile(lambda key: self._entries[key][1] <= now, self._entries)))
        self._drop(list(islice(self._entries, max(len(self._entries) - self._most, 0))))

    def _put(self, key: Key, value: Value, until: float) -> None:
        self._entries.pop(key, None)
        self._entries[key] = (value, until)

    def _drop(self, keys: Iterable[Key]) -> None:
        for key in keys:
            del self._entries[key]
