"""What the API costs with many groups in it: pages, lists, the past and scrapes.

Prints a table and one JSON line. The API runs as a process of its own; groups are judged and
measured again meanwhile: that costs `feed_cores` and is not in the CPU of requests. A scrape is
`/metrics` with all families of a detail, compressed.
"""

import argparse
import gzip
import json
import statistics
import sys
import time
from dataclasses import replace
from typing import NamedTuple

import httpx
from support.measuring import usage
from support.served_groups import CLUSTER, GroupLoad, ServedApi, served

GZIP = {"Accept-Encoding": "gzip"}
DAY_MS = 86_400_000
DETAILS = ("group", "topic", "partition")


class Latencies(NamedTuple):
    """Of one kind of request, milliseconds; CPU of the API for one."""

    p50_ms: float
    p99_ms: float
    cpu_ms: float


def main() -> None:
    arguments = _arguments()
    load = GroupLoad(
        arguments.groups,
        arguments.partitions,
        arguments.interval,
        arguments.one_in,
        arguments.past_minutes,
    )
    result: dict[str, object] = {
        "benchmark": "api",
        "groups": load.groups,
        "partitions": load.groups * load.partitions,
    }
    with served(load) as api:
        began, fed, cpu = time.monotonic(), api.fed_s, api.cpu_s
        time.sleep(arguments.seconds)
        passed = time.monotonic() - began
        result["feed_cores"] = round((api.fed_s - fed) / passed, 4)
        result["alone_cores"] = round((api.cpu_s - cpu) / passed, 5)
        for name, path in _paths(load).items():
            result |= _named(name, _latencies(api, path, arguments.requests))
        result["rss_mb"] = round(usage(api.pid).peak_rss_mb)
    for detail in DETAILS if arguments.scrapes else ():
        result |= _scrapes(replace(load, past_minutes=0), detail, arguments.scrapes)
    _print_table(result)
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=10, help="of each group")
    parser.add_argument("--interval", type=float, default=30, help="seconds until judged again")
    parser.add_argument("--one-in", type=int, default=50, help="groups, one is in trouble")
    parser.add_argument("--past-minutes", type=int, default=60, help="that each group has, of 1440")
    parser.add_argument("--scrapes", type=int, default=5, help="of each detail; 0: none")
    parser.add_argument("--requests", type=int, default=50, help="of each kind")
    parser.add_argument("--seconds", type=float, default=60, help="while nobody asks")
    return parser.parse_args()


def _paths(load: GroupLoad) -> dict[str, str]:
    group = f"{CLUSTER}/{load.name(0)}"
    now = round(time.time() * 1000)
    history = f"/api/v1/groups/{group}/history?to={now}"
    return {
        "ready": "/burrow/admin/ready",
        "overview": "/",
        "searched": "/?q=status:err+late:>1s",
        "list": "/api/v1/groups?limit=100",
        "group_page": f"/groups/{group}",
        "group": f"/api/v1/groups/{group}",
        "burrow_lag": f"/v3/kafka/{CLUSTER}/consumer/{load.name(0)}/lag",
        "history_24h": f"{history}&from={now - DAY_MS}",
        "overview_live": "/fragments/groups",
    }


def _scrapes(load: GroupLoad, detail: str, count: int) -> dict[str, object]:
    """The first scrape is checked and not timed."""
    settings: dict[str, object] = {
        "metrics_detail": detail,
        "metrics_origins": ["warren", "burrow", "kafka_lag_exporter", "tesla"],
    }
    with served(load, settings) as api:
        compressed = _get(api, "/metrics")
        text = gzip.decompress(compressed)
        series = sum(1 for line in text.splitlines() if not line.startswith(b"#"))
        if series < load.groups:
            sys.exit("a scrape without groups")
        cpu = api.cpu_s
        times = [_timed(api, "/metrics") for _ in range(count)]
        spent = (api.cpu_s - cpu) / count * 1000
    found = _named(f"metrics_{detail}", Latencies(*_quantiles(times), round(spent, 2)))
    return found | {
        f"metrics_{detail}_series": series,
        f"metrics_{detail}_mb": round(len(text) / 1e6, 1),
        f"metrics_{detail}_gzip_mb": round(len(compressed) / 1e6, 1),
    }


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


def _latencies(api: ServedApi, path: str, count: int) -> Latencies:
    """Over one connection, as a client that stays has it."""
    times = []
    with httpx.Client(base_url=api.url, headers=GZIP, timeout=120) as client:
        client.get(path).raise_for_status()
        cpu = api.cpu_s
        for _ in range(count):
            started = time.perf_counter()
            with client.stream("GET", path) as answer:
                for _ in answer.iter_raw():
                    pass
            times.append(time.perf_counter() - started)
        spent = api.cpu_s - cpu
    return Latencies(*_quantiles(times), round(spent / count * 1000, 2))


def _quantiles(seconds: list[float]) -> tuple[float, float]:
    """Half of them and 99 of 100 took at most so many milliseconds."""
    last = sorted(seconds)[min(int(len(seconds) * 0.99), len(seconds) - 1)]
    return round(statistics.median(seconds) * 1000, 1), round(last * 1000, 1)


def _named(name: str, latencies: Latencies) -> dict[str, object]:
    return {f"{name}_{figure}": value for figure, value in latencies._asdict().items() if value}


def _print_table(result: dict[str, object]) -> None:
    """Of all kinds of requests; what is left stands in the JSON line."""
    names = [key.removesuffix("_p50_ms") for key in result if key.endswith("_p50_ms")]
    print(f"{'':24}{'p50 ms':>10}{'p99 ms':>10}{'CPU ms':>10}")
    for name in names:
        figures = (result.get(f"{name}_{figure}", "") for figure in Latencies._fields)
        print(f"{name:24}" + "".join(f"{figure:>10}" for figure in figures))
    for name in (key for key in result if key.endswith("_cores")):
        print(f"{name:24}{result[name]} of a core")


if __name__ == "__main__":
    main()
