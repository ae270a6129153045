"""What a collector needs while all groups commit once a second: CPU, memory, events.

1,000 groups of 100 partitions over 50 topics by default: 100,000 commits a second. A
`warren-collector` process with default settings is measured for a while, once it is ready; one JSON
line says what it took. With --burrow, LinkedIn's Burrow then has the same load.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from support.burrow_process import OFFSET_REFRESH, running_burrow
from support.collector_process import running_collector
from support.measuring import kafka, usage
from support.service_process import ServiceProcess
from support.steady_load import SteadyLoad
from warren_local.ports import free_port

WARM_UP = 15.0  # seconds: buffers and windows have grown to what they will be
COMMITS = "warren_collector_commits_total"


def main() -> None:
    arguments = _arguments()
    load = SteadyLoad(arguments.groups, arguments.topics, arguments.partitions)
    with kafka(arguments.bootstrap) as bootstrap:
        print("creating topics", file=sys.stderr)
        load.ensure(bootstrap)
        with load.committing(bootstrap):
            result = collect(load, bootstrap, arguments.seconds)
            if arguments.burrow:
                result |= burrow(arguments.burrow, load, bootstrap, arguments.seconds)
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=100, help="of each topic, so per group")
    parser.add_argument("--seconds", type=float, default=30, help="how long to measure")
    parser.add_argument("--burrow", type=Path, help="binary of LinkedIn's Burrow")
    return parser.parse_args()


def collect(load: SteadyLoad, bootstrap: str, seconds: float) -> dict[str, Any]:
    with running_collector(bootstrap, load.offsets_topic) as collector:
        collector.until(collector.is_ready, "the collector is ready")
        collector.until(lambda: collector.total(COMMITS) > 0, "it counts commits")
        print(f"warming up for {WARM_UP:g} s", file=sys.stderr)
        time.sleep(WARM_UP)
        return _measure(load, collector, seconds)


def _measure(load: SteadyLoad, collector: ServiceProcess, seconds: float) -> dict[str, Any]:
    counters = {
        "commits_per_s": COMMITS,
        "events_per_s": "warren_collector_events_total",
        "mb_per_s": "warren_collector_published_bytes_total",
    }
    before = {name: collector.total(series) for name, series in counters.items()}
    started, cpu = time.monotonic(), usage(collector.pid).cpu_s
    time.sleep(seconds)
    elapsed, used = time.monotonic() - started, usage(collector.pid)
    rates = {name: (collector.total(s) - before[name]) / elapsed for name, s in counters.items()}
    ticks = collector.total("warren_collector_tick_seconds_count")
    return {
        "benchmark": "collect",
        "groups": load.groups,
        "positions": load.positions,
        "watched_partitions": load.topics * load.partitions,
        "commits_per_s": round(rates["commits_per_s"]),
        "events_per_s": round(rates["events_per_s"], 1),
        "mb_per_s": round(rates["mb_per_s"] / 1e6, 2),
        "cores": round((used.cpu_s - cpu) / elapsed, 3),
        "peak_rss_mb": round(used.peak_rss_mb),
        "tick_s": round(collector.total("warren_collector_tick_seconds_sum") / max(ticks, 1), 3),
        "backlog": round(collector.total("warren_collector_backlog_records")),
    }


def burrow(binary: Path, load: SteadyLoad, bootstrap: str, seconds: float) -> dict[str, Any]:
    with running_burrow(
        binary, bootstrap, load.offsets_topic, free_port(), offset_refresh=OFFSET_REFRESH
    ) as pid:
        time.sleep(WARM_UP)
        started, cpu = time.monotonic(), usage(pid).cpu_s
        time.sleep(seconds)
        elapsed, used = time.monotonic() - started, usage(pid)
    return {
        "burrow_cores": round((used.cpu_s - cpu) / elapsed, 3),
        "burrow_peak_rss_mb": round(used.peak_rss_mb),
    }


if __name__ == "__main__":
    main()
