"""Record times in memory: the least recently used go first, and those that nobody asks for."""

from __future__ import annotations

from collections import OrderedDict

from warren.clock import Clock

from warren_freshness.log_position import RecordTimes


class LocalCache:
    """At most `entries` record times, each until nobody has asked for it for `ttl` seconds."""

    def __init__(self, entries: int, ttl: float, clock: Clock) -> None:
        self._most = entries
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[str, tuple[RecordTimes, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get_many(self, keys: list[str]) -> dict[str, RecordTimes]:
        """Those that are there."""
        now = self._clock.monotonic()
        found: dict[str, RecordTimes] = {}
        for key in keys:
            entry = self._entries.get(key)
            if entry is None:
                continue
            if entry[1] <= now:
                del self._entries[key]
                continue
            if entry[1] - now < self._ttl / 2:
                self._entries[key] = (entry[0], now + self._ttl)
            self._entries.move_to_end(key)
            found[key] = entry[0]
        return found

    def put_many(self, entries: dict[str, RecordTimes]) -> None:
        until = self._clock.monotonic() + self._ttl
        for key, times in entries.items():
            self._entries[key] = (times, until)
            self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
