"""Rates: so many at once, so many a minute, shared by all notifiers as long as Redis answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from notifier.builders import event, route
from notifier.harness import Harness, Log, Scripted, life
from notifier.raw_receiver import RawReceiver
from redis import Redis
from structlog.testing import capture_logs
from support.waiting import until
from warren.clock import ManualClock
from warren.errors import SettingsError
from warren.settings import RedisSettings
from warren_local.valkey import EmbeddedValkey
from warren_notifier.delivery.rate_limit import Bucket, Rate, RateLimit, SharedBuckets
from warren_notifier.delivery.redis_buckets import RETRY_AFTER, RedisBuckets

RATE = Rate.per_minute(60, burst=3)


def test_a_burst_goes_at_once_and_the_rest_one_after_the_other() -> None:
    bucket = Bucket(RATE)
    assert [bucket.take(100) for _ in range(4)] == [0, 0, 0, 1]
    assert bucket.take(100.25) == 0.75
    assert [bucket.take(101), bucket.take(101)] == [0, 1]
    assert [bucket.take(1000) for _ in range(4)] == [0, 0, 0, 1], "no more than a burst is saved up"


def limit(
    clock: ManualClock, shared: SharedBuckets | None = None, begins: asyncio.Event | None = None
) -> RateLimit:
    """Waits take no time, but for what is to come before: `begins`."""

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)
        if begins is not None:
            await begins.wait()
        clock.advance(seconds)

    return RateLimit("hook", RATE, shared, clock, sleep, lambda: 0.5)


def test_a_channel_waits_and_sends_what_is_so_by_then() -> None:
    log, hook, clock = Log(), Scripted(), ManualClock(0)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [route(channels=("hook",))]
        limits = {"hook": limit(clock)}
        harness = Harness(log, tasks, routes, {"hook": hook}, clock=clock, limits=limits)
        await harness.assign()
        groups = [f"g{number}" for number in range(9)]
        await harness.read(*(event(group=g, event_id=f"{g}-1", incident_id=g) for g in groups))
        await harness.idle()

    life(scenario)
    assert len(hook.sent) == 9
    assert clock.now_ms() >= 6_000


def test_what_has_become_needless_while_it_waited_counts_for_nothing() -> None:
    """Three may go at once; five openings wait, and end before it is their turn."""
    log, hook, clock = Log(), Scripted(), ManualClock(0)
    asked: list[float] = []

    class Counting:
        bucket = Bucket(RATE)

        async def take(self, _channel: str, _rate: Rate) -> float | None:
            wait = self.bucket.take(clock.monotonic())
            asked.append(wait)
            return wait

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        limits = {"hook": limit(clock, Counting(), begins := asyncio.Event())}
        routes = [route(channels=("hook",))]
        harness = Harness(log, tasks, routes, {"hook": hook}, clock=clock, limits=limits)
        await harness.assign()
        groups = [f"g{number}" for number in range(8)]
        await harness.read(*(event(group=g, event_id=f"{g}-1", incident_id=g) for g in groups))
        await until(lambda: len(hook.sent) == 3 and 1 in asked)
        ends = (event("OK", "ERR", group=g, event_id=f"{g}-2", incident_id=g) for g in groups[3:])
        await harness.read(*ends, offset=8)
        begins.set()
        await harness.idle()

    life(scenario)
    assert len(hook.sent) == 3
    assert asked.count(0) == 3


class Away:
    async def take(self, _channel: str, _rate: Rate) -> float | None:
        return None


def test_while_nobody_can_be_asked_each_counts_for_itself() -> None:
    clock = ManualClock(0)

    async def run() -> None:
        at = limit(clock, Away())
        for _ in range(5):
            await at.turn()

    asyncio.run(run())
    assert 2_000 <= clock.now_ms() <= 2_300


def with_buckets(url: str, prefix: str, work: Callable[..., Awaitable[None]], count: int) -> None:
    async def run() -> None:
        clock = ManualClock()
        settings = RedisSettings.model_validate({"url": url})
        made = [RedisBuckets(settings, prefix, clock) for _ in range(count)]
        try:
            await work(clock, *made)
        finally:
            for buckets in made:
                await buckets.close()

    asyncio.run(run())


def test_notifiers_share_a_bucket(redis_url: str, unique: str) -> None:
    slow = Rate.per_minute(1, burst=3)

    async def work(_: ManualClock, one: RedisBuckets, other: RedisBuckets) -> None:
        taken = [await at.take("hook", slow) for at in (one, other, one)]
        assert taken == [0, 0, 0]
        wait = await other.take("hook", slow)
        assert wait is not None
        assert 0 < wait <= 60
        assert await other.take("mail", slow) == 0

    with_buckets(redis_url, f"{unique}:", work, 2)


@pytest.mark.parametrize("held", ["9e18", "1e309", "-1e309", "nan", "rubbish", "[1]"])
def test_what_no_bucket_holds_is_not_believed(redis_url: str, unique: str, held: str) -> None:
    """A clock that was set back, a failover to another one, somebody else's number."""
    slow = Rate.per_minute(1, burst=2)

    async def work(_: ManualClock, buckets: RedisBuckets) -> None:
        with Redis.from_url(redis_url) as redis:
            redis.set(f"{unique}:rate:hook", held)
        assert [await buckets.take("hook", slow) for _ in range(2)] == [0, 0]
        wait = await buckets.take("hook", slow)
        assert wait is not None
        assert 0 < wait <= 60

    with_buckets(redis_url, f"{unique}:", work, 1)


@pytest.mark.servers
def test_a_redis_that_is_away_is_said_once_and_left_alone_for_a_while(
    valkey: EmbeddedValkey, tmp_path: Path
) -> None:
    async def work(clock: ManualClock, buckets: RedisBuckets) -> None:
        assert await buckets.take("hook", RATE) == 0
        valkey.stop()
        with capture_logs() as logs:
            assert await buckets.take("hook", RATE) is None
            clock.advance(RETRY_AFTER)
            assert await buckets.take("hook", RATE) is None
        assert len([one for one in logs if "Redis does not answer" in one["event"]]) == 1
        with EmbeddedValkey(valkey.port, data_dir=tmp_path, log=tmp_path / "again.log"):
            assert await buckets.take("hook", RATE) is None
            clock.advance(RETRY_AFTER)
            with capture_logs() as logs:
                assert await buckets.take("hook", RATE) == 0
            assert [one["event"] for one in logs] == ["Redis answers again"]

    with_buckets(valkey.url, "warren:", work, 1)


@pytest.mark.parametrize(
    "said", [b":abc\r\n", b"$-5\r\n", b"+OK\r\n", b"*1\r\n" * 100_000, b"HTTP/1.1 400 Bad\r\n\r\n"]
)
def test_what_is_no_redis_is_none_that_answers(said: bytes) -> None:
    async def work(_: ManualClock, buckets: RedisBuckets) -> None:
        assert await buckets.take("hook", RATE) is None

    with RawReceiver(said * 5, then=said * 5, greeting=True) as receiver:
        port = receiver.url.split(":")[2].split("/")[0]
        with_buckets(f"redis://127.0.0.1:{port}/0", "warren:", work, 1)


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"redis\.url"):
        RedisBuckets(RedisSettings.model_validate({"url": "redis://x:nope"}), "", ManualClock())
