"""What the lake's layers cost as it grows: from 50,000 to 400,000 positions, step by step.

Offset events of groups of 10 partitions, 5 s apart, come in four steps; after each all three layers
are brought up to date, as by `warren archive run --once`, with the heap that is the default, by
`local[2]` or by the workers of a standalone cluster. Prints one JSON line: per step the clock's and
the processors' seconds for a million positions (Spark's JVMs and Python's workers), peak memory,
and what is on disk.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from archive import GROUPS, Load, create_topic
from pyspark.sql import SparkSession
from support.measuring import Usage, jars_of, kafka, usage_with_children
from warren.clock import SystemClock
from warren.contracts.topics import OFFSETS
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren_archiver.lake.lake import Lake
from warren_archiver.session import open_session
from warren_archiver.silver.catalogue import EVALUATIONS, POSITIONS
from warren_archiver.streaming.archive import archive
from warren_local.jar_sets import SPARK_JARS
from warren_local.spark_cluster import SparkCluster

PER_EVENT = 10  # positions
MILLION = 1_000_000
STEPS = (1, 2, 4, 8)
"""Millions of positions that there are after each."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--scale", type=float, default=0.05, help="1: up to eight million")
    parser.add_argument("--groups", type=int, default=GROUPS, help="of 10 partitions each")
    parser.add_argument(
        "--workers", type=int, default=0, help="of a standalone cluster, one core each; 0: local[2]"
    )
    arguments = parser.parse_args()
    configure(LogSettings(level="error"))  # the only line on standard output is the result
    jars = jars_of(SPARK_JARS)
    with (
        kafka(arguments.bootstrap) as bootstrap,
        tempfile.TemporaryDirectory() as directory,
        _master(Path(directory), arguments.workers) as master,
    ):
        settings = Settings.model_validate(
            {
                "home": {"bootstrap": bootstrap, "topic_prefix": f"bench-{uuid.uuid4().hex[:8]}."},
                "archiver": {
                    "path": str(Path(directory) / "lake"),
                    "jars_dir": str(jars),
                    "master": master,
                },
            }
        )
        create_topic(settings, 8)
        spark = open_session(settings.archiver, "warren-bench-growth")
        steps = list(_grown(spark, Load(settings, PER_EVENT, arguments.groups), arguments.scale))
        spark.stop()
    about = {"groups": arguments.groups, "workers": arguments.workers}
    print(json.dumps({"benchmark": "growth"} | about | {"steps": steps}))


@contextmanager
def _master(folder: Path, workers: int) -> Iterator[str]:
    if not workers:
        yield "local[2]"
        return
    with SparkCluster(folder, workers=workers, cores=1) as cluster:
        yield cluster.master


def _grown(spark: SparkSession, load: Load, scale: float) -> Iterator[dict[str, Any]]:
    settings = load.settings
    lake = Lake.at(settings.archiver.path)
    done = 0
    for step in STEPS:
        until = round(step * MILLION * scale / PER_EVENT)
        load.fill(done, until)
        events, done = until - done, until
        started, before = time.perf_counter(), _used().cpu_s
        clock, stop = SystemClock(), threading.Event()
        archive(spark, settings, stop, once=True, clock=clock, topics=[OFFSETS])
        seconds, used = time.perf_counter() - started, _used()
        for table, rows in ((POSITIONS, done * PER_EVENT), (EVALUATIONS, done)):
            stored = spark.read.format("delta").load(lake.silver(table.name)).count()
            if stored != rows:
                sys.exit(f"{table.name} has {stored} rows, there should be {rows}")
        millions = events * PER_EVENT / MILLION
        files = list(Path(lake.root.removeprefix("file:")).rglob("*.parquet"))
        told = {
            "positions": done * PER_EVENT,
            "s_per_million": round(seconds / millions, 1),
            "cpu_s_per_million": round((used.cpu_s - before) / millions, 1),
            "peak_rss_mb": round(used.peak_rss_mb),
            "files": len(files),
            "mb": round(sum(file.stat().st_size for file in files) / MILLION, 1),
        }
        print(json.dumps(told), file=sys.stderr)
        yield told


def _used() -> Usage:
    """By Spark's JVMs and what they start: the driver's, and those of a cluster."""
    spark = [
        each.pid
        for each in psutil.Process().children()
        if any(part.startswith("org.apache.spark.deploy") for part in each.cmdline())
    ]
    found = [usage_with_children(pid) for pid in spark]
    return Usage(sum(each.cpu_s for each in found), sum(each.peak_rss_mb for each in found))


if __name__ == "__main__":
    main()
