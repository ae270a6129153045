"""How fast a pass measures groups that lag in 5,000 partitions: nothing known, all known.

Prints one JSON line. Beside it stands what monitoring usually does: assign a consumer to one
position after the other and poll one record.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from support.measuring import kafka, usage
from support.record_load import RecordLoad
from warren.clock import SystemClock
from warren.contracts import FreshnessEvent, OffsetEvent, TopicPositions
from warren.log import configure
from warren.settings import ClusterSettings, FreshnessSettings, LogSettings, RedisSettings
from warren_freshness.passes.cluster_measurer import ClusterMeasurer
from warren_freshness.positions.group_positions import GroupPositions, GroupSnapshot
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.record_times.cache import TimeCache
from warren_freshness.record_times.local_cache import LocalCache
from warren_freshness.record_times.redis_cache import RedisCache
from warren_freshness.topics.retention import Retention

CLUSTER = "bench"
SEED = 20
NO_REDIS = RedisSettings.model_validate({"url": "redis://localhost:1/0"})
Committed = dict[str, list[int]]


def main() -> None:
    arguments = _arguments()
    configure(LogSettings(level="error"))  # the only line on standard output is the result
    load = RecordLoad(arguments.topics, arguments.partitions, arguments.records)
    with kafka(arguments.bootstrap) as bootstrap:
        load.ensure(bootstrap)
        committed = _committed(load)
        own = asyncio.run(measure(load, committed, bootstrap, arguments.rounds))
        own |= seek_and_poll(load, committed, bootstrap, arguments.polls)
    own["times_faster"] = round(own["seek_and_poll_s"] / own["cold_s"], 1)
    print(json.dumps({"benchmark": "freshness", "positions": load.logs} | own))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--records", type=int, default=200, help="in each partition")
    parser.add_argument("--rounds", type=int, default=5, help="the median is reported")
    parser.add_argument("--polls", type=int, default=500, help="positions of the comparison")
    return parser.parse_args()


def _committed(load: RecordLoad) -> Committed:
    """A position with records before and after it in every partition."""
    chance = random.Random(SEED)
    return {
        t: [chance.randrange(1, load.records) for _ in range(load.partitions)] for t in load.topics
    }


async def measure(
    load: RecordLoad, committed: Committed, bootstrap: str, rounds: int
) -> dict[str, Any]:
    """Medians of passes with empty and with filled caches; Redis has no part in either."""
    groups = _groups(load, committed)
    await _settle(load, groups, bootstrap)
    cold, warm, cpu = [], [], []
    for _ in range(rounds):
        measurer = await _connected(load, bootstrap)
        seconds, used = await _pass(measurer, groups, load, committed)
        cold.append(seconds)
        cpu.append(used)
        warm.append((await _pass(measurer, groups, load, committed))[0])
        await measurer.close()
    return {
        "cold_s": round(sorted(cold)[rounds // 2], 3),
        "warm_s": round(sorted(warm)[rounds // 2], 3),
        "cold_cpu_s": round(sorted(cpu)[rounds // 2], 3),
        "rss_mb": round(usage().peak_rss_mb),
    }


async def _settle(load: RecordLoad, groups: Sequence[GroupSnapshot], bootstrap: str) -> None:
    """A broker that was filled a moment ago still writes, and has most of it to read from disk."""
    unread = True
    while unread:
        measurer = await _connected(load, bootstrap)
        events = await measurer.measure(groups)
        await measurer.close()
        unread = any("timeout" in c.reason for event in events for c in event.topics.values())


async def _connected(load: RecordLoad, bootstrap: str) -> ClusterMeasurer:
    """A cluster's stack as it is between two passes: connected, but with nothing in its caches."""
    clock, settings = SystemClock(), FreshnessSettings()
    cluster = ClusterSettings(bootstrap=bootstrap)
    reader = RecordReader(CLUSTER, f"clusters.{CLUSTER}", cluster, clock)
    retention = Retention(CLUSTER, reader.brokers, settings.retention_refresh, clock)
    local = LocalCache(settings.cache_entries, settings.cache_ttl, clock)
    redis = RedisCache(NO_REDIS, settings.cache_ttl, clock)
    await redis.get_many(["not there"])  # and then it is left alone for a while
    await reader.prepare(load.topics, timeout=30)
    await retention.refresh(load.topics, timeout=30)
    return ClusterMeasurer(
        reader, TimeCache(CLUSTER, local, redis), retention, settings, clock, stale_after=3600
    )


async def _pass(
    measurer: ClusterMeasurer,
    groups: Sequence[GroupSnapshot],
    load: RecordLoad,
    committed: Committed,
) -> tuple[float, float]:
    started, cpu = time.perf_counter(), usage().cpu_s
    events = await measurer.measure(groups)
    elapsed, cpu = time.perf_counter() - started, usage().cpu_s - cpu
    _check(events, load, committed)
    return elapsed, cpu


def _check(events: Sequence[FreshnessEvent], load: RecordLoad, committed: Committed) -> None:
    for event in events:
        for topic, columns in event.topics.items():
            wanted = [load.append_time(offset) for offset in committed[topic]]
            if columns.oldest_at != wanted:
                sys.exit(f"{topic}: wrong times, reasons {set(columns.reason)}")


def _groups(load: RecordLoad, committed: Committed) -> list[GroupSnapshot]:
    """One group per topic."""
    positions, now = GroupPositions(), SystemClock().now_ms()
    count = load.partitions
    for topic in load.topics:
        listed = TopicPositions(
            partition=list(range(count)),
            committed=committed[topic],
            committed_at=[now] * count,
            commits=[1] * count,
            log_start=[0] * count,
            log_end=[load.records] * count,
        )
        event = OffsetEvent(
            cluster=CLUSTER,
            group=f"group of {topic}",
            source="offsets_topic",
            observed_at=now,
            position=1,
            topics={topic: listed},
        )
        positions.fold(event, home_partition=0)
    return positions.snapshots(CLUSTER, [0])


def seek_and_poll(
    load: RecordLoad, committed: Committed, bootstrap: str, polls: int
) -> dict[str, Any]:
    """The same by one consumer, position by position; `polls` of them, scaled to all."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "warren-bench",
            "enable.auto.commit": False,
            # Else each position waits half a second for more records of the one before.
            "fetch.wait.max.ms": 1,
        }
    )
    consumer.list_topics(timeout=30)  # who leads is known, as it is in our own case
    places = [(topic, p) for topic in load.topics for p in range(load.partitions)]
    chosen = random.Random(SEED).sample(places, polls + 1)
    started = 0.0
    for index, (topic, partition) in enumerate(chosen):
        offset = committed[topic][partition]
        consumer.assign([TopicPartition(topic, partition, offset)])
        message = consumer.poll(30)
        if message is None or message.timestamp()[1] != load.append_time(offset):
            sys.exit(f"{topic} {partition}: no record, or a wrong one")
        if index == 0:  # connecting is not counted
            started = time.perf_counter()
    elapsed = time.perf_counter() - started
    consumer.close()
    return {
        "seek_and_poll_s": round(elapsed / polls * load.logs, 2),
        "seek_and_poll_ms_per_position": round(elapsed / polls * 1000, 2),
    }


if __name__ == "__main__":
    main()
