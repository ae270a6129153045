"""From a commit to its verdict: collector and evaluator on a real Kafka, all groups committing.

1,000 groups of 100 partitions commit every 5 seconds by default. Both services run as processes
with default settings; one JSON line says what they took together and how long after its newest
commit a verdict was published. With --burrow, LinkedIn's Burrow then has the same load; it judges a
group only when it is asked, so its figure is without evaluation.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

from confluent_kafka import Consumer
from support.burrow_process import OFFSET_REFRESH, running_burrow
from support.measuring import kafka, usage
from support.service_process import ServiceProcess, running_service
from support.steady_load import SteadyLoad
from warren.contracts import LagEvent
from warren_local.server import free_port

WARM_UP = 60.0  # seconds: ten commits fill the windows
PREFIX = "warren-bench-pipeline."


def main() -> None:
    arguments = _arguments()
    load = SteadyLoad(arguments.groups, arguments.topics, arguments.partitions, arguments.every)
    with kafka(arguments.bootstrap) as bootstrap:
        print("creating topics", file=sys.stderr)
        load.ensure(bootstrap)
        with load.committing(bootstrap):
            result = warren(load, bootstrap, arguments.seconds)
            if arguments.burrow:
                result |= burrow(arguments.burrow, load, bootstrap, arguments.seconds, result)
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=100, help="of each topic, so per group")
    parser.add_argument("--every", type=float, default=5, help="seconds between two commits")
    parser.add_argument("--seconds", type=float, default=60, help="how long to measure")
    parser.add_argument("--burrow", type=Path, help="binary of LinkedIn's Burrow")
    return parser.parse_args()


def warren(load: SteadyLoad, bootstrap: str, seconds: float) -> dict[str, Any]:
    with _services(load, bootstrap) as services, _verdicts(bootstrap) as consumer:
        print(f"warming up for {WARM_UP:g} s", file=sys.stderr)
        _drain(consumer, WARM_UP)
        before = {name: usage(service.pid).cpu_s for name, service in services.items()}
        started = time.monotonic()
        delays = _drain(consumer, seconds)
        elapsed = time.monotonic() - started
        used = {name: usage(service.pid) for name, service in services.items()}
        cores = {name: (used[name].cpu_s - before[name]) / elapsed for name in services}
        cuts = quantiles(delays, n=100)
        return {
            "benchmark": "pipeline",
            "groups": load.groups,
            "positions": load.positions,
            "commits_per_s": round(load.positions / load.every),
            "verdicts_per_s": round(len(delays) / elapsed, 1),
            "delay_p50_s": round(cuts[49], 2),
            "delay_p99_s": round(cuts[98], 2),
            "cores": round(sum(cores.values()), 3),
            **{f"{name}_cores": round(value, 3) for name, value in cores.items()},
            "bytes_per_position": round(
                sum(u.peak_rss_mb for u in used.values()) * 2**20 / load.positions
            ),
            **{f"{name}_peak_rss_mb": round(value.peak_rss_mb) for name, value in used.items()},
        }


def burrow(
    binary: Path, load: SteadyLoad, bootstrap: str, seconds: float, own: dict[str, Any]
) -> dict[str, Any]:
    with running_burrow(
        binary, bootstrap, load.offsets_topic, free_port(), offset_refresh=OFFSET_REFRESH
    ) as pid:
        time.sleep(WARM_UP)
        started, cpu = time.monotonic(), usage(pid).cpu_s
        time.sleep(seconds)
        elapsed, used = time.monotonic() - started, usage(pid)
    cores = (used.cpu_s - cpu) / elapsed
    size = used.peak_rss_mb * 2**20 / load.positions
    return {
        "burrow_cores": round(cores, 3),
        "burrow_bytes_per_position": round(size),
        "cpu_ratio": round(own["cores"] / cores, 2),
        "memory_ratio": round(own["bytes_per_position"] / size, 2),
    }


@contextmanager
def _services(load: SteadyLoad, bootstrap: str) -> Iterator[dict[str, ServiceProcess]]:
    run = time.time_ns()
    config = f"""
[home]
bootstrap = "{bootstrap}"
topic_prefix = "{PREFIX}"
[clusters.bench]
bootstrap = "{bootstrap}"
offsets_topic = "{load.offsets_topic}"
[collector]
group_id = "warren-bench-{run}"
[evaluator]
app_id = "warren-bench-evaluator-{run}"
data_dir = "evaluator"
"""
    with (
        running_service("collector", config) as collector,
        running_service("evaluator", config) as evaluator,
    ):
        services = {"collector": collector, "evaluator": evaluator}
        for name, service in services.items():
            service.until(service.is_ready, f"the {name} is ready")
        yield services


@contextmanager
def _verdicts(bootstrap: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"warren-bench-{time.time_ns()}",
            "auto.offset.reset": "latest",
        }
    )
    consumer.subscribe([f"{PREFIX}{LagEvent.topic_name}"])
    try:
        yield consumer
    finally:
        consumer.close()


def _drain(consumer: Consumer, seconds: float) -> list[float]:
    """Seconds from the newest commit of each group to the publishing of its verdict."""
    delays, deadline = [], time.monotonic() + seconds
    while time.monotonic() < deadline:
        for message in consumer.consume(100, timeout=0.5):
            if message.error() is None and (value := message.value()) is not None:
                newest = _newest_commit(value)
                delays.append((message.timestamp()[1] - newest) / 1000)
    return delays


def _newest_commit(value: bytes) -> int:
    """Unix ms. Not by the contract's model: checking it would cost more than the services do."""
    topics = json.loads(value)["topics"].values()
    return int(max(at for topic in topics for at in topic["committed_at"]))


if __name__ == "__main__":
    main()
