"""Record times in Redis or Valkey, shared by all instances: a help, never a need."""

from __future__ import annotations

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from warren.clock import Clock
from warren.errors import SettingsError
from warren.metrics.freshness import FRESHNESS_REDIS_UP
from warren.settings import RedisSettings

from warren_freshness.log_position import RecordTimes

log = structlog.get_logger(__name__)

TIMEOUT = 1.0  # seconds for an answer; reading the log takes less than waiting longer
RETRY_AFTER = 30.0  # seconds without a try after one that failed
CHUNK = 1000
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
            self._takes_none(error)
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

    def _takes_none(self, error: Exception) -> None:
        """It answers, but is full, or a replica."""
        if self._takes_none_until is None:
            log.warning(
                "Redis takes no record times, each instance reads the logs itself",
                setting="redis.url",
                problem=str(error),
            )
        self._takes_none_until = self._clock.monotonic() + RETRY_AFTER

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
    return [keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)]
