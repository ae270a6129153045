"""Records that were found, by position: memory first, then Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable, Mapping
from itertools import islice, takewhile
from typing import Generic, TypeVar

from warren.clock import Clock
from warren.installation import Installation
from warren.metrics.freshness import FRESHNESS_LOOKUPS

from warren_freshness.log_position import LogPosition, Reading, RecordTimes
from warren_freshness.record_times.redis_cache import RedisCache

LocalKey = TypeVar("LocalKey", bound=Hashable)
Value = TypeVar("Value")
ENTRIES = 200_000  # record times kept in memory, per cluster; what was not asked for lately goes
SECONDS = 600.0  # that a record time is kept in Redis, and in memory after it was asked for last
CHUNK = 5000  # keys of Redis that are made at a time: each is longer than what it stands for
Key = tuple[str, int, int]
"""Topic with its id, partition, offset."""


class LocalCache(Generic[LocalKey, Value]):
    """At most `entries` values, each until nobody has asked for it for `ttl` seconds."""

    def __init__(self, entries: int, ttl: float, clock: Clock) -> None:
        self._most = entries
        self._ttl = ttl
        self._clock = clock
        # In the order of their times: a value that is asked for has new time when half is over.
        self._entries: dict[LocalKey, tuple[Value, float]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get_many(self, keys: Iterable[LocalKey]) -> dict[LocalKey, Value]:
        """Those that are there."""
        now = self._clock.monotonic()
        half = now + self._ttl / 2
        found: dict[LocalKey, Value] = {}
        for key in keys:
            entry = self._entries.get(key)
            if entry is None or entry[1] <= now:
                continue
            found[key] = entry[0]
            if entry[1] < half:
                self._put(key, entry[0], now + self._ttl)
        return found

    def put_many(self, entries: Mapping[LocalKey, Value]) -> None:
        now = self._clock.monotonic()
        until = now + self._ttl
        for key, value in entries.items():
            self._put(key, value, until)
        self._drop(list(takewhile(lambda key: self._entries[key][1] <= now, self._entries)))
        self._drop(list(islice(self._entries, max(len(self._entries) - self._most, 0))))

    def _put(self, key: LocalKey, value: Value, until: float) -> None:
        self._entries.pop(key, None)
        self._entries[key] = (value, until)

    def _drop(self, keys: Iterable[LocalKey]) -> None:
        for key in keys:
            del self._entries[key]


class TimeCache:
    """Readings of records at positions of one cluster: append times there and before.

    A topic's id is part of the key: a topic that was deleted and created again has other records
    at the same offsets.
    """

    def __init__(
        self,
        cluster: str,
        local: LocalCache[Key, Reading],
        shared: RedisCache,
        installation: Installation | None = None,
    ) -> None:
        self._cluster = cluster
        self._prefix = (installation or Installation()).cache_prefix
        self._local = local
        self._shared = shared
        self._known_names: dict[str, str] = {}
        self._sharing: asyncio.Task[None] | None = None

    async def get_many(
        self, positions: Iterable[LogPosition], topic_ids: Mapping[str, str]
    ) -> dict[LogPosition, Reading]:
        """Those that are known."""
        found: dict[LogPosition, Reading] = {}
        wanted = list(positions)
        for start in range(0, len(wanted), CHUNK):
            found.update(await self._get(wanted[start : start + CHUNK], topic_ids))
        return found

    async def _get(
        self, positions: Iterable[LogPosition], topic_ids: Mapping[str, str]
    ) -> dict[LogPosition, Reading]:
        names = self._names(topic_ids)
        keys = {_key(position, names): position for position in positions}
        found = self._local.get_many(keys)
        missing = [key for key in keys if key not in found]
        shared = await self._recalled(missing)
        if shared:
            self._local.put_many(shared)
        for where, count in (
            ("memory", len(found)),
            ("redis", len(shared)),
            ("log", len(missing) - len(shared)),
        ):
            FRESHNESS_LOOKUPS.labels(self._cluster, where).inc(count)
        found.update(shared)
        return {keys[key]: reading for key, reading in found.items()}

    async def put_many(
        self, readings: Mapping[LogPosition, Reading], topic_ids: Mapping[str, str]
    ) -> None:
        """Keeps them; Redis gets their times while others work on."""
        names = self._names(topic_ids)
        entries = {_key(position, names): reading for position, reading in readings.items()}
        self._local.put_many(entries)
        await self.flush()
        if entries:
            self._sharing = asyncio.create_task(self._share(entries))

    async def flush(self) -> None:
        """Waits until Redis has what was put last."""
        if self._sharing is not None:
            await self._sharing
            self._sharing = None

    async def _recalled(self, keys: Iterable[Key]) -> dict[Key, Reading]:
        """What others know."""
        if self._shared.is_left_alone:
            return {}
        wanted = {self._shared_key(key): key for key in keys}
        found = await self._shared.get_many(list(wanted)) if wanted else {}
        return {wanted[key]: Reading("record", *times) for key, times in found.items()}

    async def _share(self, entries: Mapping[Key, Reading]) -> None:
        if self._shared.is_left_alone:
            return
        items = iter(entries.items())
        while chunk := dict(islice(items, CHUNK)):
            times = {
                self._shared_key(key): RecordTimes(reading.first, reading.before)
                for key, reading in chunk.items()
                if reading.first is not None
            }
            await self._shared.put_many(times)

    def _names(self, topic_ids: Mapping[str, str]) -> dict[str, str]:
        """By topic, what stands for it in keys: the same object in all of them."""
        known = self._known_names
        named = {topic: f"{topic}:{identity}" for topic, identity in topic_ids.items()}
        self._known_names = {
            topic: known[topic] if known.get(topic) == name else name
            for topic, name in named.items()
        }
        return self._known_names

    def _shared_key(self, key: Key) -> str:
        name, partition, offset = key
        return f"{self._prefix}append-time:{self._cluster}:{name}:{partition}:{offset}"


def _key(position: LogPosition, names: Mapping[str, str]) -> Key:
    topic, partition, offset = position
    return names.get(topic, topic), partition, offset
