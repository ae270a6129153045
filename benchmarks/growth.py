"""What the lake's layers cost as it grows: from 50,000 to 400,000 positions, step by step.

Offset events of 500 groups, 5 s apart, come in four steps; after each all three layers are brought
up to date, as by `warren archive run --once`, with the heap that is the default. Prints one JSON
line: per step the clock's and the processors' seconds for a million positions (Spark's JVM and
Python's workers), peak memory, and what is on disk.
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
from pathlib import Path
from typing import Any

from archive import GROUPS, Load, create_topic, jvm
from pyspark.sql import SparkSession
from support.measuring import jars_of, kafka, usage_with_children
from warren.clock import SystemClock
from warren.contracts.topics import OFFSETS
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren_archiver.lake.lake import Lake
from warren_archiver.session import open_session
from warren_archiver.silver.catalogue import EVALUATIONS, POSITIONS
from warren_archiver.streaming.archive import archive
from warren_local.jar_sets import SPARK_JARS

PER_EVENT = 10  # positions
MILLION = 1_000_000
STEPS = (1, 2, 4, 8)
"""Millions of positions that there are after each."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--scale", type=float, default=0.05, help="1: up to eight million")
    arguments = parser.parse_args()
    configure(LogSettings(level="error"))  # the only line on standard output is the result
    jars = jars_of(SPARK_JARS)
    with kafka(arguments.bootstrap) as bootstrap, tempfile.TemporaryDirectory() as directory:
        settings = Settings.model_validate(
            {
                "home": {"bootstrap": bootstrap, "topic_prefix": f"bench-{uuid.uuid4().hex[:8]}."},
                "archiver": {"path": str(Path(directory) / "lake"), "jars_dir": str(jars)},
            }
        )
        create_topic(settings, 8)
        spark = open_session(settings.archiver, "warren-bench-growth")
        steps = list(_grown(spark, settings, arguments.scale))
        spark.stop()
    print(json.dumps({"benchmark": "growth", "groups": GROUPS, "steps": steps}))


def _grown(spark: SparkSession, settings: Settings, scale: float) -> Iterator[dict[str, Any]]:
    load = Load(settings, PER_EVENT)
    lake = Lake.at(settings.archiver.path)
    done = 0
    for step in STEPS:
        until = round(step * MILLION * scale / PER_EVENT)
        load.fill(done, until)
        events, done = until - done, until
        started, before = time.perf_counter(), usage_with_children(jvm()).cpu_s
        clock, stop = SystemClock(), threading.Event()
        archive(spark, settings, stop, once=True, clock=clock, topics=[OFFSETS])
        seconds, used = time.perf_counter() - started, usage_with_children(jvm())
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


if __name__ == "__main__":
    main()
