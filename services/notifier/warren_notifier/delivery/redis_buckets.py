"""Buckets in Redis or Valkey, shared by all notifiers: a help, never a need."""

from __future__ import annotations

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from warren.clock import Clock
from warren.errors import SettingsError
from warren.settings import RedisSettings

from warren_notifier.delivery.rate_limit import Rate

log = structlog.get_logger(__name__)

TIMEOUT = 1.0  # seconds for an answer
RETRY_AFTER = 10.0  # seconds without a try after one that failed
# The last ones of a server that is no Redis: redis-py reads its answers as they come.
_DOWN = (RedisError, OSError, TimeoutError, ValueError, TypeError, AttributeError, RecursionError)
# As Bucket.take, in microseconds of the server's clock; the key ends with what it counts.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') or 0, now)
-- Further ahead than a burst is no bucket's: a clock was set back, or it is somebody else's number.
if not (due <= now + burst * interval) then due = now end
local wait = due - now - (burst - 1) * interval
if wait > 0 then return math.ceil(wait) end
due = due + interval
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1)
return 0
"""


class RedisBuckets:
    """Keys are `<prefix>rate:<channel>`."""

    def __init__(self, settings: RedisSettings, prefix: str, clock: Clock) -> None:
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
        self._take = self._redis.register_script(_TAKE)
        self._prefix = prefix
        self._clock = clock
        self._down_until: float | None = None

    async def take(self, channel: str, rate: Rate) -> float | None:
        if self._down_until is not None and self._clock.monotonic() < self._down_until:
            return None
        arguments = [round(rate.interval * 1_000_000), rate.burst]
        try:
            wait = await self._take(keys=[f"{self._prefix}rate:{channel}"], args=arguments)
            seconds = int(wait) / 1_000_000
        except _DOWN as error:
            if self._down_until is None:
                log.warning(
                    "Redis does not answer, each notifier limits its channels for itself",
                    setting="redis.url",
                    problem=str(error) or type(error).__name__,
                )
            self._down_until = self._clock.monotonic() + RETRY_AFTER
            return None
        if self._down_until is not None:
            log.info("Redis answers again")
            self._down_until = None
        return seconds

    async def close(self) -> None:
        await self._redis.aclose()
