"""A lake on an object store that speaks S3: written by Spark over `s3a://`, read back without it.

Needs `pip install 'moto[server]'` (a server of its own that keeps all in memory), and a directory
with the two jars that are too large to be Warren's: hadoop-aws 3.5.0 and AWS's `bundle` 2.35.4.
Archives half of the events and then, in the same session, the rest; silver too. Exits 1 where
anything is missing or twice. Prints one JSON line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import deltalake
import duckdb
from archive import Load, create_topic, verify
from pyspark.sql import SparkSession
from support.measuring import jars_of, kafka
from warren.clock import SystemClock
from warren.contracts.topics import OFFSETS
from warren.history.reader_options import reader_options
from warren.log import configure
from warren.settings import ArchiverSettings, LogSettings, Settings
from warren_archiver.lake.lake import Lake
from warren_archiver.session import open_session
from warren_archiver.silver.catalogue import POSITIONS
from warren_archiver.streaming.archive import archive
from warren_local.jar_sets import SPARK_JARS
from warren_local.ports import free_port

BUCKET = "warren"
SECRET = "test"  # of a server that asks nobody who they are
EVENT = 'topic, topic_id, partition, "offset"'
POSITION = "kafka_partition, kafka_offset, topic, partition"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--jars", type=Path, required=True, help="directory of the two jars")
    parser.add_argument("--events", type=int, default=20_000)
    arguments = parser.parse_args()
    configure(LogSettings(level="error"))
    warrens = jars_of(SPARK_JARS)
    jars = ",".join(str(jar) for jar in sorted(arguments.jars.glob("*.jar")))
    with (
        kafka(arguments.bootstrap) as bootstrap,
        tempfile.TemporaryDirectory() as directory,
        _server(Path(directory)) as endpoint,
    ):
        settings = Settings.model_validate(
            {
                "home": {"bootstrap": bootstrap, "topic_prefix": f"bench-{uuid.uuid4().hex[:8]}."},
                "archiver": {
                    "path": f"s3a://{BUCKET}/lake",
                    "jars_dir": str(warrens),
                    "gold_interval": 0,
                    "spark": {
                        "spark.jars": jars,
                        "fs.s3a.endpoint": endpoint,
                        "fs.s3a.endpoint.region": "us-east-1",
                        "fs.s3a.path.style.access": "true",
                        "fs.s3a.connection.ssl.enabled": "false",
                        "fs.s3a.access.key": SECRET,
                        "fs.s3a.secret.key": SECRET,
                    },
                },
            }
        )
        create_topic(settings, 4)
        print(json.dumps(_measure(settings, arguments.events)))


def _measure(settings: Settings, events: int) -> dict[str, Any]:
    load = Load(settings, 5)
    started = time.perf_counter()
    spark = open_session(settings.archiver, "warren-object-store")
    for first, end in ((0, events // 2), (events // 2, events)):
        load.fill(first, end)
        _archive(spark, settings)
    seconds = time.perf_counter() - started
    verify(spark, settings, events)
    spark.stop()
    lake = Lake.at(settings.archiver.path)
    found = {
        "events": _read(lake.events, settings.archiver, EVENT),
        "positions": _read(lake.silver(POSITIONS.name), settings.archiver, POSITION),
    }
    if found != {"events": (events, events), "positions": (events * 5, events * 5)}:
        sys.exit(f"{events} events of 5 positions were produced, read back were {found}")
    return {"benchmark": "object_store", "events": events, "seconds": round(seconds, 1)}


def _archive(spark: SparkSession, settings: Settings) -> None:
    stop, clock = threading.Event(), SystemClock()
    archive(spark, settings, stop, once=True, clock=clock, topics=[OFFSETS])


def _read(path: str, archiver: ArchiverSettings, key: str) -> tuple[int, int]:
    """Rows by delta-rs, as reports open their tables, and how many different ones."""
    table = deltalake.DeltaTable(path, storage_options=reader_options(archiver))
    with duckdb.connect() as database:
        rows = (
            deltalake.QueryBuilder().register("stored", table).execute(f"SELECT {key} FROM stored")
        )
        database.register("stored", rows)
        counted = database.execute(
            f"SELECT count(*), count(DISTINCT ({key})) FROM stored"
        ).fetchone()
    assert counted is not None
    return counted[0], counted[1]


@contextmanager
def _server(directory: Path) -> Iterator[str]:
    """Its address; has the bucket."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    with (directory / "server.log").open("w") as log:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _create_bucket(f"{endpoint}/{BUCKET}")
            yield endpoint
        finally:
            server.terminate()
            server.wait(30)


def _create_bucket(url: str, timeout: float = 180) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=30):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    main()
