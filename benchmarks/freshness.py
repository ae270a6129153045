"""What it costs to say how late groups are, in processor time and in bytes from the brokers.

Prints one JSON line. `cold`: nothing is known, `warm`: all is, `moved`: a tenth of the positions
have moved; each with all passes that the default budget needs. Beside it stands what monitoring
usually does: assign a consumer to one position after the other and poll one record.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from support.measured_passes import MeasuredPasses, PassCost
from support.measuring import kafka, usage
from support.record_load import RecordLoad
from warren.contracts import FreshnessEvent
from warren.log import configure
from warren.settings import LogSettings

SEED = 20
MOVED = 0.1
Positions = dict[str, dict[str, list[int]]]
"""Committed offsets by group and topic, of all partitions."""


def main() -> None:
    arguments = _arguments()
    load = RecordLoad(arguments.topics, arguments.partitions, arguments.records)
    groups = max(arguments.positions // load.logs, 1)
    with kafka(arguments.bootstrap) as bootstrap:
        load.ensure(bootstrap)
        own = _apart(measure, load, groups, bootstrap)
        own |= seek_and_poll(load, bootstrap, arguments.polls)
    per_position = own["cold"]["seconds"] * 1000 / (groups * load.logs)
    own["times_faster"] = round(own["seek_and_poll_ms_per_position"] / per_position, 1)
    cpu = own["cold"]["cpu_us_per_position"] / 1000
    own["times_less_cpu"] = round(own["seek_and_poll_cpu_ms_per_position"] / cpu, 1)
    print(json.dumps({"benchmark": "freshness", "positions": groups * load.logs} | own))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--records", type=int, default=200, help="in each partition")
    parser.add_argument(
        "--positions", type=int, default=5000, help="of groups that consume all partitions each"
    )
    parser.add_argument("--polls", type=int, default=500, help="positions of the comparison")
    return parser.parse_args()


def _apart(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """In a process of its own, whose memory is not that of the load."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def measure(load: RecordLoad, groups: int, bootstrap: str) -> dict[str, Any]:
    configure(LogSettings(level="error"))
    return asyncio.run(_measure(load, groups, bootstrap))


async def _measure(load: RecordLoad, groups: int, bootstrap: str) -> dict[str, Any]:
    """Redis has no part in it."""
    chance = random.Random(SEED)
    positions = _positions(load, groups, chance)
    # A broker that was filled a moment ago still writes, and has most of it to read from disk.
    for _ in range(2):
        passes = MeasuredPasses(bootstrap)
        await passes.connect(load.topics)
        cold = await _costs(passes, load, positions)
        warm = await _costs(passes, load, positions)
        moved = await _costs(passes, load, _moved(load, positions, chance))
        await passes.close()
    return {
        "cold": _told(cold, groups * load.logs),
        "warm": _told(warm, groups * load.logs),
        "moved": _told(moved, groups * load.logs),
        "rss_mb": round(usage().peak_rss_mb),
    }


async def _costs(passes: MeasuredPasses, load: RecordLoad, positions: Positions) -> PassCost:
    for group, committed in positions.items():
        passes.commit(group, committed, load.records)

    def check(events: Sequence[FreshnessEvent]) -> None:
        for event in events:
            for topic, columns in event.topics.items():
                wanted = [load.append_time(offset) for offset in positions[event.group][topic]]
                if columns.oldest_at != wanted:
                    sys.exit(f"{topic}: wrong times, reasons {set(columns.reason)}")

    return await passes.measure(check)


def _told(cost: PassCost, positions: int) -> dict[str, Any]:
    return asdict(cost) | {
        "seconds": round(cost.seconds, 2),
        "cpu_s": round(cost.cpu_s, 2),
        "cpu_us_per_position": round(cost.cpu_s * 1_000_000 / positions, 1),
    }


def _positions(load: RecordLoad, groups: int, chance: random.Random) -> Positions:
    """Positions with records before and after them in every partition."""
    return {
        f"group-{number}": {
            topic: [chance.randrange(1, load.records - 1) for _ in range(load.partitions)]
            for topic in load.topics
        }
        for number in range(groups)
    }


def _moved(load: RecordLoad, positions: Positions, chance: random.Random) -> Positions:
    """Some go on by a record or more."""
    return {
        group: {
            topic: [
                chance.randrange(offset + 1, load.records) if chance.random() < MOVED else offset
                for offset in offsets
            ]
            for topic, offsets in committed.items()
        }
        for group, committed in positions.items()
    }


def seek_and_poll(load: RecordLoad, bootstrap: str, polls: int) -> dict[str, Any]:
    """The same by one consumer, position by position; `polls` of them."""
    committed = _positions(load, 1, random.Random(SEED))["group-0"]
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
    started = cpu = 0.0
    for index, (topic, partition) in enumerate(chosen):
        offset = committed[topic][partition]
        consumer.assign([TopicPartition(topic, partition, offset)])
        message = consumer.poll(30)
        if message is None or message.timestamp()[1] != load.append_time(offset):
            sys.exit(f"{topic} {partition}: no record, or a wrong one")
        if index == 0:  # connecting is not counted
            started, cpu = time.perf_counter(), usage().cpu_s
    elapsed, cpu = time.perf_counter() - started, usage().cpu_s - cpu
    consumer.close()
    return {
        "seek_and_poll_ms_per_position": round(elapsed / polls * 1000, 2),
        "seek_and_poll_cpu_ms_per_position": round(cpu / polls * 1000, 2),
    }


if __name__ == "__main__":
    main()
