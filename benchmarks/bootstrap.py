"""How long a collector needs from its start until it knows all positions, and the memory for it.

A compacted offsets topic with 1,000,000 live positions by default; a `warren-collector` process as
a user starts it, until it is ready. Prints one JSON line.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from support.collector_process import running_collector
from support.commit_load import CommitLoad
from support.measuring import kafka, usage


def main() -> None:
    arguments = _arguments()
    load = CommitLoad(arguments.positions, arguments.positions)
    with kafka(arguments.bootstrap) as bootstrap:
        load.ensure(bootstrap)
        load.ensure_data_topics(bootstrap)
        print(json.dumps(bootstrapped(load, bootstrap)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--positions", type=int, default=1_000_000)
    return parser.parse_args()


def bootstrapped(load: CommitLoad, bootstrap: str) -> dict[str, Any]:
    started = time.monotonic()
    with running_collector(bootstrap, load.topic) as collector:
        collector.until(collector.is_ready, "the collector is ready", every=0.05)
        elapsed, used = time.monotonic() - started, usage(collector.pid)
        collector.until(
            lambda: collector.total("warren_collector_events_total") > 0, "all is published once"
        )
        collector.until(
            lambda: collector.total("warren_collector_positions") == load.positions,
            "all positions are known",
        )
        published = time.monotonic() - started
        lines = [json.loads(line) for line in collector.log.read_text().splitlines()]
        return {
            "benchmark": "bootstrap",
            "positions": load.positions,
            "seconds": round(elapsed, 1),
            "cpu_s": round(used.cpu_s, 1),
            "peak_rss_mb": round(used.peak_rss_mb),
            "bytes_per_position": round(used.peak_rss_mb * 2**20 / load.positions),
            "progress_lines": sum(line["event"] == "rebuilding state" for line in lines),
            "seconds_until_published": round(published, 1),
            "peak_rss_mb_published": round(usage(collector.pid).peak_rss_mb),
        }


if __name__ == "__main__":
    main()
