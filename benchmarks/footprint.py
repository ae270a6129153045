"""What Warren takes for what it watches: CPU and memory of each service, bytes of each topic.

All services run as processes with default settings beside an embedded Kafka, first with nothing to
watch, then with groups that all commit and all lag: 1,000 groups of 100 partitions every 5 seconds
by default. Bytes are those of the topics' segments, one replica, before Kafka compacts them. With
--burrow, LinkedIn's Burrow then has the same load; it judges a group only when it is asked, so its
figure is without evaluation. Prints one JSON line.
"""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

from confluent_kafka import Consumer
from support.burrow_process import running_burrow
from support.measuring import embedded_kafka, embedded_valkey, usage
from support.service_process import ServiceProcess, running_service
from support.steady_load import SteadyLoad
from warren.contracts import LagEvent

SERVICES = ("collector", "evaluator", "freshness", "notifier", "api")
PIPELINE = ("collector", "evaluator")  # what Burrow does
WARM_UP = 60.0  # seconds: ten commits fill the windows
DAY = 86_400.0  # seconds
WARREN = "footprint"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=100, help="of each topic, so per group")
    parser.add_argument("--every", type=float, default=5, help="seconds between two commits")
    parser.add_argument("--seconds", type=float, default=60, help="how long to measure each state")
    parser.add_argument("--burrow", type=Path, help="binary of LinkedIn's Burrow")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whatever was started ends with us
    load = SteadyLoad(arguments.groups, arguments.topics, arguments.partitions, arguments.every)
    with embedded_kafka() as kafka:
        print("creating topics", file=sys.stderr)
        load.ensure(kafka.bootstrap)
        result = warren(load, kafka.bootstrap, kafka.options.data_dir, arguments.seconds)
        if arguments.burrow:
            with load.committing(kafka.bootstrap):
                result |= burrow(arguments.burrow, load, kafka.bootstrap, arguments.seconds, result)
    print(json.dumps(result))


def warren(load: SteadyLoad, bootstrap: str, data: Path, seconds: float) -> dict[str, Any]:
    with _services(load, bootstrap) as services, _verdicts(bootstrap) as consumer:
        time.sleep(WARM_UP / 2)
        idle = _cores(services, lambda: time.sleep(seconds))
        with load.committing(bootstrap):
            _drain(consumer, WARM_UP)
            delays: list[float] = []
            started, before = time.monotonic(), _sizes(data)
            cores = _cores(services, lambda: delays.extend(_drain(consumer, seconds)))
            after, elapsed = _sizes(data), time.monotonic() - started
            peaks = {name: service.usage().peak_rss_mb for name, service in services.items()}
        cuts = quantiles(delays, n=100)
        each_day = DAY / elapsed / load.positions
        written = {topic: after[topic] - before[topic] for topic in sorted(after)}
        return {
            "benchmark": "footprint",
            "groups": load.groups,
            "positions": load.positions,
            "commits_per_s": round(load.positions / load.every),
            # Less than 0.9: the machine gave too little, and all figures are too small.
            "kept_up": round(len(delays) / elapsed / (load.groups / load.every), 2),
            "delay_p50_s": round(cuts[49], 2),
            "delay_p99_s": round(cuts[98], 2),
            "idle_cores": round(sum(idle.values()), 3),
            "cores": round(sum(cores.values()), 3),
            "pipeline_cores": round(sum(cores[name] for name in PIPELINE), 3),
            **{f"{name}_cores": round(value, 3) for name, value in cores.items()},
            **{f"{name}_peak_rss_mb": round(value) for name, value in peaks.items()},
            "bytes_per_position": round(sum(peaks.values()) * 2**20 / load.positions),
            "bytes_per_position_and_day": round(sum(written.values()) * each_day),
            "of_topics": {topic: round(size * each_day) for topic, size in written.items() if size},
        }


def burrow(
    binary: Path, load: SteadyLoad, bootstrap: str, seconds: float, own: dict[str, Any]
) -> dict[str, Any]:
    with running_burrow(binary, bootstrap, load.offsets_topic) as pid:
        time.sleep(WARM_UP)
        started, cpu = time.monotonic(), usage(pid).cpu_s
        time.sleep(seconds)
        cores = (usage(pid).cpu_s - cpu) / (time.monotonic() - started)
        size = usage(pid).peak_rss_mb * 2**20 / load.positions
    return {
        "burrow_cores": round(cores, 3),
        "burrow_bytes_per_position": round(size),
        "cpu_ratio": round(own["pipeline_cores"] / cores, 2),
    }


@contextmanager
def _services(load: SteadyLoad, bootstrap: str) -> Iterator[dict[str, ServiceProcess]]:
    with ExitStack() as closing:
        valkey = closing.enter_context(embedded_valkey())
        config = f"""
[home]
bootstrap = "{bootstrap}"
instance = "{WARREN}"
[clusters.bench]
bootstrap = "{bootstrap}"
offsets_topic = "{load.offsets_topic}"
[evaluator]
data_dir = "evaluator"
[redis]
url = "{valkey.url}"
"""
        services = {name: closing.enter_context(running_service(name, config)) for name in SERVICES}
        for name, service in services.items():
            service.until(service.is_ready, f"the {name} is ready")
        yield services


@contextmanager
def _verdicts(bootstrap: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "verdicts", "auto.offset.reset": "latest"}
    )
    consumer.subscribe([f"{WARREN}.{LagEvent.topic_name}"])
    try:
        yield consumer
    finally:
        consumer.close()


def _cores(services: dict[str, ServiceProcess], wait: Callable[[], None]) -> dict[str, float]:
    """That each service takes meanwhile."""
    before = {name: service.usage().cpu_s for name, service in services.items()}
    started = time.monotonic()
    wait()
    elapsed = time.monotonic() - started
    return {
        name: (service.usage().cpu_s - before[name]) / elapsed for name, service in services.items()
    }


def _sizes(data: Path) -> Counter[str]:
    """Bytes of Warren's topics."""
    sizes = Counter[str]()
    for segment in data.glob(f"**/{WARREN}[.-]*/*.log"):
        topic = segment.parent.name.rpartition("-")[0].removeprefix(WARREN)
        sizes[topic[1:]] += segment.stat().st_size
    return sizes


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
