"""."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from redis import Redis
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from support.suspended import suspended
from warren.errors import SettingsError
from warren.metrics.freshness import FRESHNESS
from warren.settings import RedisSettings
from warren_freshness.log_position import RecordTimes
from warren_freshness.record_times.cache import (
    ASKED_AT_ONCE,
    RETRY_AFTER,
    LocalCache,
    RedisCache,
    decode,
    encode,
)
from warren_local.server import EmbeddedValkey, free_port


def with_cache(
    url: str, work: Callable[[RedisCache, ManualClock], Awaitable[None]], ttl: float = 60
) -> None:
    async def run() -> None:
        clock = ManualClock()
        cache = RedisCache(RedisSettings.model_validate({"url": url}), ttl, clock)
        try:
            await work(cache, clock)
        finally:
            await cache.close()

    asyncio.run(run())


def is_up() -> float | None:
    return FRESHNESS.get_sample_value("warren_freshness_redis_up")


def test_what_was_put_is_there_for_everybody(redis_url: str, unique: str) -> None:
    entries = {
        f"{unique}-{n}": RecordTimes(n, n - 1 if n % 2 else None) for n in range(ASKED_AT_ONCE + 1)
    }

    async def put(cache: RedisCache, _: ManualClock) -> None:
        await cache.put_many(entries)

    async def get(cache: RedisCache, _: ManualClock) -> None:
        assert await cache.get_many([*entries, "nothing"]) == entries

    with_cache(redis_url, put)
    with_cache(redis_url, get)
    assert is_up() == 1


def test_entries_expire(redis_url: str, unique: str) -> None:
    async def put(cache: RedisCache, _: ManualClock) -> None:
        await cache.put_many({unique: RecordTimes(1, None)})

    with_cache(redis_url, put, ttl=77)
    with Redis.from_url(redis_url) as redis:
        assert 70_000 < redis.pttl(unique) <= 77_000


def test_values_of_others_are_not_there(redis_url: str, unique: str) -> None:
    with Redis.from_url(redis_url) as redis:
        redis.set(unique, "something else")

    async def get(cache: RedisCache, _: ManualClock) -> None:
        assert await cache.get_many([unique]) == {}

    with_cache(redis_url, get)


def test_a_redis_that_is_down_is_reported_once_and_left_alone_for_a_while() -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"

    async def work(cache: RedisCache, clock: ManualClock) -> None:
        with capture_logs() as logs:
            for _ in range(3):
                assert await cache.get_many(["a"]) == {}
                await cache.put_many({"a": RecordTimes(1, None)})
                clock.advance(RETRY_AFTER)
        assert [line["setting"] for line in logs] == ["redis.url"]
        assert is_up() == 0

    with_cache(url, work)


@pytest.mark.servers
def test_a_redis_that_comes_back(unique: str, tmp_path: Path) -> None:
    valkey = EmbeddedValkey(free_port(), data_dir=tmp_path, log=tmp_path / "valkey.log")

    async def work(cache: RedisCache, clock: ManualClock) -> None:
        assert await cache.get_many([unique]) == {}
        await asyncio.to_thread(valkey.start)
        await cache.put_many({unique: RecordTimes(1, None)})
        assert await cache.get_many([unique]) == {}  # it is not asked yet
        clock.advance(RETRY_AFTER)
        with capture_logs() as logs:
            await cache.put_many({unique: RecordTimes(1, None)})
        assert [line["event"] for line in logs] == ["Redis answers again"]
        assert await cache.get_many([unique]) == {unique: RecordTimes(1, None)}

    try:
        with_cache(valkey.url, work)
    finally:
        valkey.stop()


def test_a_redis_that_hangs_costs_one_timeout(valkey: EmbeddedValkey, unique: str) -> None:
    async def work(cache: RedisCache, clock: ManualClock) -> None:
        await cache.put_many({unique: RecordTimes(1, None)})
        with suspended(valkey.child), capture_logs() as logs:
            assert await cache.get_many([unique]) == {}
            assert cache.is_left_alone
            assert await cache.get_many([unique]) == {}
        assert [line["setting"] for line in logs] == ["redis.url"]
        assert is_up() == 0
        clock.advance(RETRY_AFTER)
        # What it answers late is not taken for the answer to a later question.
        assert await cache.get_many(["nothing", unique]) == {unique: RecordTimes(1, None)}
        assert is_up() == 1

    with_cache(valkey.url, work)


def test_a_redis_that_is_full_is_read_and_reported_once(
    valkey: EmbeddedValkey, unique: str
) -> None:
    def limit(size: str) -> None:
        with Redis.from_url(valkey.url) as redis:
            redis.config_set("maxmemory-policy", "noeviction")
            redis.config_set("maxmemory", size)

    async def work(cache: RedisCache, clock: ManualClock) -> None:
        await cache.put_many({unique: RecordTimes(1, None)})
        limit("1")
        with capture_logs() as logs:
            for _ in range(3):
                await cache.put_many({"more": RecordTimes(2, None)})
                assert await cache.get_many([unique, "more"]) == {unique: RecordTimes(1, None)}
                assert is_up() == 1
                clock.advance(RETRY_AFTER)
        assert [line["setting"] for line in logs] == ["redis.url"]
        limit("100mb")
        with capture_logs() as logs:
            await cache.put_many({"more": RecordTimes(2, None)})
        assert [line["event"] for line in logs] == ["Redis takes record times again"]
        assert await cache.get_many(["more"]) == {"more": RecordTimes(2, None)}

    with_cache(valkey.url, work)


def test_a_url_that_is_none() -> None:
    with pytest.raises(SettingsError) as caught:
        RedisCache(RedisSettings.model_validate({"url": "redis://x:nope"}), 60, ManualClock())
    assert caught.value.setting == "redis.url"


@pytest.mark.parametrize("times", [RecordTimes(5, None), RecordTimes(5, 4), RecordTimes(-1, -1)])
def test_bytes_and_back(times: RecordTimes) -> None:
    assert decode(encode(times)) == times


@pytest.mark.parametrize("value", [b"", b"x", b"1,x", b"1;2"])
def test_bytes_of_others(value: bytes) -> None:
    assert decode(value) is None


A, B, C = RecordTimes(1, None), RecordTimes(2, 1), RecordTimes(3, 2)


def test_what_nobody_has_asked_for_lately_goes_first() -> None:
    clock = ManualClock()
    cache = LocalCache[str, RecordTimes](2, 60, clock)
    cache.put_many({"a": A, "b": B})
    clock.advance(31)
    assert cache.get_many(["a", "nothing"]) == {"a": A}
    cache.put_many({"c": C})
    assert cache.get_many(["a", "b", "c"]) == {"a": A, "c": C}
    assert len(cache) == 2


def test_what_nobody_asks_for_goes_after_its_time() -> None:
    clock = ManualClock()
    cache = LocalCache[str, RecordTimes](2, 60, clock)
    cache.put_many({"a": A, "b": B})
    for _ in range(3):  # a position that stays is read once
        clock.advance(59)
        assert cache.get_many(["a"]) == {"a": A}
    assert cache.get_many(["b"]) == {}
    clock.advance(60)
    assert cache.get_many(["a"]) == {}
    cache.put_many({"c": C})
    assert len(cache) == 1
