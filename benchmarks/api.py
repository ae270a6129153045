"""How fast the API answers with 100,000 partitions in it, with and without a scrape running.

Prints one JSON line. The API runs as a process of its own; groups are judged and measured again
meanwhile. A scrape is `/metrics` with all families, compressed; while "scraped" one follows the
other without a pause.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from support.measuring import usage
from support.served_groups import CLUSTER, GroupLoad, ServedApi, served

GZIP = {"Accept-Encoding": "gzip"}


def main() -> None:
    arguments = _arguments()
    load = GroupLoad(arguments.groups, arguments.partitions, arguments.interval)
    detail = f"/api/v1/groups/{CLUSTER}/{load.names[0]}"
    paths = {
        "groups": "/api/v1/groups",
        "group": detail,
        "burrow_lag": f"/v3/kafka/{CLUSTER}/consumer/{load.names[0]}/lag",
    }
    result: dict[str, object] = {
        "benchmark": "api",
        "groups": load.groups,
        "partitions": load.groups * load.partitions,
    }
    with served(load) as api:
        result |= _scrape(api, arguments.scrapes)
        for name, path in paths.items():
            result |= _quantiles(name, _latencies(api, path, arguments.requests))
        with scraped(api):
            for name, path in paths.items():
                times = _latencies(api, path, arguments.requests)
                result |= _quantiles(f"{name}_scraped", times)
        result["rss_mb"] = round(usage(api.pid).peak_rss_mb)
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=100, help="of each group")
    parser.add_argument("--interval", type=float, default=10, help="seconds until judged again")
    parser.add_argument("--scrapes", type=int, default=20)
    parser.add_argument("--requests", type=int, default=100, help="of each kind")
    return parser.parse_args()


def _scrape(api: ServedApi, count: int) -> dict[str, object]:
    """The first scrape is checked and not timed."""
    compressed = _get(api, "/metrics")
    text = gzip.decompress(compressed)
    series = sum(1 for line in text.splitlines() if not line.startswith(b"#"))
    if text.count(b'consumer_group="') < 1:
        sys.exit("a scrape without groups")
    cpu = usage(api.pid).cpu_s
    times = [_timed(api, "/metrics") for _ in range(count)]
    return {
        "series": series,
        "metrics_mb": round(len(text) / 1e6, 1),
        "metrics_gzip_mb": round(len(compressed) / 1e6, 1),
        "metrics_p50_s": round(statistics.median(times), 3),
        "metrics_p99_s": round(_p99(times), 3),
        "metrics_cpu_s": round((usage(api.pid).cpu_s - cpu) / count, 3),
    }


@contextmanager
def scraped(api: ServedApi) -> Iterator[None]:
    """Scrapes, one after the other, until the end of the block."""
    stop = threading.Event()

    def scrape() -> None:
        while not stop.is_set():
            _get(api, "/metrics")

    scraper = threading.Thread(target=scrape)
    scraper.start()
    try:
        yield
    finally:
        stop.set()
        scraper.join()


def _get(api: ServedApi, path: str) -> bytes:
    """The body as it came, not decompressed: that would be the client's time."""
    with httpx.stream("GET", f"{api.url}{path}", headers=GZIP, timeout=120) as answer:
        if answer.status_code != 200:
            sys.exit(f"{path}: {answer.status_code}")
        return b"".join(answer.iter_raw())


def _timed(api: ServedApi, path: str) -> float:
    started = time.perf_counter()
    _get(api, path)
    return time.perf_counter() - started


def _latencies(api: ServedApi, path: str, count: int) -> list[float]:
    """Seconds; over one connection, as a client that stays has it."""
    times = []
    with httpx.Client(base_url=api.url, headers=GZIP, timeout=120) as client:
        client.get(path).raise_for_status()
        for _ in range(count):
            started = time.perf_counter()
            with client.stream("GET", path) as answer:
                for _ in answer.iter_raw():
                    pass
            times.append(time.perf_counter() - started)
    return times


def _quantiles(name: str, times: list[float]) -> dict[str, object]:
    return {
        f"{name}_p50_ms": round(statistics.median(times) * 1000, 1),
        f"{name}_p99_ms": round(_p99(times) * 1000, 1),
    }


def _p99(times: list[float]) -> float:
    return sorted(times)[min(int(len(times) * 0.99), len(times) - 1)]


if __name__ == "__main__":
    main()
