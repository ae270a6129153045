"""How fast offset events become rows of the table of events, by Spark in one JVM with two cores.

Prints one JSON line. The session's start is not counted, the compilation of the first batch is.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from rich.console import Console
from support.measuring import kafka, usage
from warren.clock import SystemClock
from warren.contracts import OffsetEvent, TopicPositions, group_key
from warren.contracts.topics import OFFSETS
from warren.kafka.producer import EventProducer
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren_archiver.lake.lake import Lake
from warren_archiver.session import open_session
from warren_archiver.streaming.archive import archive
from warren_local.jars import ensure_spark_jars

GROUPS = 500
GROUP_PARTITIONS = 5  # columns of each event: about 420 bytes


def main() -> None:
    arguments = _arguments()
    configure(LogSettings(level="error"))  # the only line on standard output is the result
    jars = ensure_spark_jars(Settings(), Console(stderr=True))
    with kafka(arguments.bootstrap) as bootstrap, tempfile.TemporaryDirectory() as directory:
        settings = Settings.model_validate(
            {
                "home": {"bootstrap": bootstrap, "topic_prefix": f"bench-{uuid.uuid4().hex[:8]}."},
                "archiver": {
                    "path": str(Path(directory) / "lake"),
                    "jars_dir": str(jars),
                    "memory": arguments.memory,
                    "batch_records": arguments.batch,
                },
            }
        )
        size = _fill(settings, arguments.events, arguments.partitions)
        result = _measure(settings, arguments.events)
    print(json.dumps({"benchmark": "archive", "event_bytes": size} | result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=8, help="of the topic")
    parser.add_argument("--memory", default="1g", help="heap of Spark's JVM")
    parser.add_argument("--batch", type=int, default=200_000, help="most events in one batch")
    return parser.parse_args()


def _fill(settings: Settings, events: int, partitions: int) -> int:
    """Produces the events; the size of the last one, bytes."""
    home = settings.home
    name = OFFSETS.full_name(home.topic_prefix)
    admin = AdminClient({"bootstrap.servers": home.bootstrap})
    new = NewTopic(name, partitions, 1, config=OFFSETS.config())
    for created in admin.create_topics([new], operation_timeout=60).values():
        created.result()
    print(f"loading {events:,} events", file=sys.stderr)
    producer = EventProducer("home", "home", home, delivery_timeout=120)
    started, value = SystemClock().now_ms(), b""
    for number in range(events):
        group = f"group-{number % GROUPS}"
        value = _event(group, number, started).to_bytes()
        producer.send(name, group_key("bench", group), value)
    producer.flush()
    return len(value)


def _event(group: str, number: int, now: int) -> OffsetEvent:
    count = GROUP_PARTITIONS
    columns = TopicPositions.model_construct(
        partition=list(range(count)),
        committed=[number] * count,
        committed_at=[now + number] * count,
        commits=[1] * count,
        log_start=[0] * count,
        log_end=[number + 10] * count,
    )
    return OffsetEvent.model_construct(
        cluster="bench",
        group=group,
        source="offsets_topic",
        observed_at=now + number,
        position=number,
        topics={"orders": columns},
    )


def _measure(settings: Settings, events: int) -> dict[str, Any]:
    started = time.perf_counter()
    spark = open_session(settings.archiver, "warren-bench-archive")
    session_s = time.perf_counter() - started
    gateway = SparkContext._gateway
    assert gateway is not None
    jvm = gateway.proc.pid
    started, before = time.perf_counter(), usage(jvm)
    archive(spark, settings, threading.Event(), once=True, clock=SystemClock(), topics=[OFFSETS])
    elapsed, after = time.perf_counter() - started, usage(jvm)
    _verify(spark, settings, events)
    spark.stop()
    return {
        "events": events,
        "events_per_s": round(events / elapsed),
        "seconds": round(elapsed, 1),
        "cpu_us_per_event": round((after.cpu_s - before.cpu_s) / events * 1e6, 1),
        "jvm_peak_rss_mb": round(after.peak_rss_mb),
        "session_s": round(session_s, 1),
    }


def _verify(spark: SparkSession, settings: Settings, events: int) -> None:
    """Every event once, or the figure is worth nothing."""
    lake = Lake.at(settings.archiver.path)
    table = lake.read(spark, lake.events)
    assert table is not None
    places = table.agg(F.count("offset"), F.count_distinct("partition", "offset")).first()
    if places is None or set(places) != {events}:
        sys.exit(f"{events} events were produced, archived are {places}")


if __name__ == "__main__":
    main()
