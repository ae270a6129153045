"""Records that were found, by position: memory first, then Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable, Mapping
from itertools import islice, takewhile
from typing import Generic, TypeVar

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from warren.clock import Clock
from warren.errors import SettingsError
from warren.installation import Installation
from warren.metrics.freshness import FRESHNESS_LOOKUPS, FRESHNESS_REDIS_UP
from warren.settings import RedisSettings

from warren_freshness.log_position import LogPosition, Reading, RecordTimes

LocalKey = TypeVar("LocalKey", bound=Hashable)
Value = TypeVar("Value")
ENTRIES = 200_000  # record times kept in memory, per cluster; what was not asked for lately goes
SECONDS = 600.0  # that a record time is kept in Redis, and in memory after it was asked for last
MADE_AT_ONCE = 5000  # keys of Redis that are made at a time: each is longer than what it stands for
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
        for start in range(0, len(wanted), MADE_AT_ONCE):
            found.update(await self._get(wanted[start : start + MADE_AT_ONCE], topic_ids))
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
        while chunk := dict(islice(items, MADE_AT_ONCE)):
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


# Record times in Redis or Valkey, shared by all instances: a help, never a need.


log = structlog.get_logger(__name__)

TIMEOUT = 1.0  # seconds for an answer; reading the log takes less than waiting longer
RETRY_AFTER = 30.0  # seconds without a try after one that failed
ASKED_AT_ONCE = 1000  # keys in one command or pipeline
# The last ones of a server that is no Redis: redis-py reads its answers as they come.
_DOWN = (RedisError, OSError, TimeoutError, ValueError, TypeError, AttributeError, RecursionError)


class RedisCache:
    """Values are `first` or `first,before` in decimal. When Redis is down, nothing is found; when
    it is full, what is there is found, and nothing is added."""

    def __init__(self, settings: RedisSettings, ttl: float, clock: Clock) -> None:
        """Raises SettingsError for a URL that is none."""
        try:
            self._redis = Redis.from_url(
                settings.url.get_secret_value(),
                socket_timeout=TIMEOUT,
                socket_connect_timeout=TIMEOUT,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            raise SettingsError("redis.url", str(error)) from None
        self._ttl_ms = round(ttl * 1000)
        self._clock = clock
        self._down_until: float | None = None
        self._takes_none_until: float | None = None

    @property
    def is_left_alone(self) -> bool:
        """It did not answer a moment ago, and is not asked again yet."""
        return not self._may_try()

    async def get_many(self, keys: list[str]) -> dict[str, RecordTimes]:
        """Those that are there."""
        found: dict[str, RecordTimes] = {}
        if not self._may_try():
            return found
        try:
            for chunk in _chunks(keys):
                for key, value in zip(chunk, await self._redis.mget(chunk), strict=True):
                    times = decode(value) if isinstance(value, bytes) else None
                    if times is not None:
                        found[key] = times
        except _DOWN as error:
            self._went_down(error)
        else:
            self._is_up()
        return found

    async def put_many(self, entries: dict[str, RecordTimes]) -> None:
        if not entries or not self._may_try() or not _is_over(self._takes_none_until, self._clock):
            return
        try:
            for chunk in _chunks(list(entries)):
                async with self._redis.pipeline(transaction=False) as pipeline:
                    for key in chunk:
                        pipeline.set(key, encode(entries[key]), px=self._ttl_ms)
                    await pipeline.execute()
        except ResponseError as error:
            # It answers, but is full, or a replica.
            if self._takes_none_until is None:
                log.warning(
                    "Redis takes no record times, each instance reads the logs itself",
                    setting="redis.url",
                    problem=str(error),
                )
            self._takes_none_until = self._clock.monotonic() + RETRY_AFTER
        except _DOWN as error:
            self._went_down(error)
        else:
            self._is_up()
            if self._takes_none_until is not None:
                log.info("Redis takes record times again")
            self._takes_none_until = None

    async def close(self) -> None:
        await self._redis.aclose()

    def _may_try(self) -> bool:
        return _is_over(self._down_until, self._clock)

    def _went_down(self, error: Exception) -> None:
        if self._down_until is None:
            log.warning(
                "Redis does not answer, record times are read from the logs",
                setting="redis.url",
                problem=str(error) or type(error).__name__,
            )
        self._down_until = self._clock.monotonic() + RETRY_AFTER
        FRESHNESS_REDIS_UP.set(0)

    def _is_up(self) -> None:
        if self._down_until is not None:
            log.info("Redis answers again")
        self._down_until = None
        FRESHNESS_REDIS_UP.set(1)


def _is_over(until: float | None, clock: Clock) -> bool:
    return until is None or clock.monotonic() >= until


def encode(times: RecordTimes) -> bytes:
    text = str(times.first) if times.before is None else f"{times.first},{times.before}"
    return text.encode()


def decode(value: bytes) -> RecordTimes | None:
    """None for what was not written by `encode`."""
    try:
        first, _, before = value.partition(b",")
        return RecordTimes(int(first), int(before) if before else None)
    except ValueError:
        return None


def _chunks(keys: list[str]) -> list[list[str]]:
    return [keys[start : start + ASKED_AT_ONCE] for start in range(0, len(keys), ASKED_AT_ONCE)]
