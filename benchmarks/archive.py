"""How fast offset events become rows of the table of events, by Spark in one JVM with two cores.

Prints one JSON line. What a JVM that has just begun needs (classes, compilation: the first fifth of
the events) is told by itself: an archiver pays it once, and then keeps up at the rate that follows.
Where other processes are busy, events per CPU second say more than events per second.
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
from typing import Any, NamedTuple

import psutil
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from support.measuring import jars_of, kafka, usage, usage_with_children
from warren.clock import SystemClock
from warren.contracts import OffsetEvent, TopicPositions, group_key
from warren.contracts.topics import OFFSETS
from warren.kafka.producer import EventProducer
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren_archiver.gold.gold import Gold
from warren_archiver.gold.gold import ensure as ensure_gold
from warren_archiver.gold.plan import STEPS
from warren_archiver.lake.lake import Lake
from warren_archiver.replay.replay import Archived, changed
from warren_archiver.report.period import Period
from warren_archiver.session import open_session
from warren_archiver.silver.catalogue import POSITIONS
from warren_archiver.silver.evaluations import Evaluations
from warren_archiver.silver.silver import Silver, ensure
from warren_archiver.streaming.archive import archive
from warren_local.jar_sets import SPARK_JARS

GROUPS = 500
HOUR_MS = 3_600_000
TABLES_OF_GOLD = [step.table.name for step in STEPS]
ROUNDS = 3
"""Replays: the first one starts Python's workers, and compiles."""


def main() -> None:
    arguments = _arguments()
    configure(LogSettings(level="error"))  # the only line on standard output is the result
    jars = jars_of(SPARK_JARS)
    with kafka(arguments.bootstrap) as bootstrap, tempfile.TemporaryDirectory() as directory:
        settings = Settings.model_validate(
            {
                "home": {"bootstrap": bootstrap, "topic_prefix": f"bench-{uuid.uuid4().hex[:8]}."},
                "archiver": {
                    "path": str(Path(directory) / "lake"),
                    "jars_dir": str(jars),
                    "memory": arguments.memory,
                    "batch_records": arguments.batch,
                    "writers": 2,
                    "silver_interval": 0,
                },
            }
        )
        create_topic(settings, arguments.partitions)
        cold = arguments.events // 5
        load = Load(settings, arguments.group_partitions)
        size = load.fill(0, cold)
        wanted = {
            "silver": arguments.silver or arguments.gold,
            "gold": arguments.gold,
            "replay": arguments.replay,
        }
        result = _measure(load, cold, arguments.events, **wanted)
    print(json.dumps({"benchmark": "archive", "event_bytes": size} | result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=8, help="of the topic")
    parser.add_argument("--memory", default="1g", help="heap of Spark's JVM")
    parser.add_argument("--group-partitions", type=int, default=5, help="in each event")
    parser.add_argument("--silver", action="store_true", help="positions and evaluations too")
    parser.add_argument("--gold", action="store_true", help="silver, and gold made of it")
    parser.add_argument("--replay", action="store_true", help="what `warren replay` does")
    parser.add_argument("--batch", type=int, default=1_000_000, help="most events in one batch")
    return parser.parse_args()


def create_topic(settings: Settings, partitions: int) -> None:
    name = OFFSETS.full_name(settings.home.topic_prefix)
    admin = AdminClient({"bootstrap.servers": settings.home.bootstrap})
    new = NewTopic(name, partitions, 1, config=OFFSETS.config())
    for created in admin.create_topics([new], operation_timeout=60).values():
        created.result()


class Load:
    """Offset events on their topic; those of a group are 5 s apart."""

    def __init__(self, settings: Settings, group_partitions: int, groups: int = GROUPS) -> None:
        self.settings = settings
        self.group_partitions = group_partitions
        self._groups = groups
        self._started = SystemClock().now_ms()

    def fill(self, first: int, end: int) -> int:
        """Produces events with these numbers; the size of the last one, bytes."""
        name = OFFSETS.full_name(self.settings.home.topic_prefix)
        print(f"loading {end - first:,} events", file=sys.stderr)
        producer = EventProducer("home", "home", self.settings.home, delivery_timeout=120)
        value = b""
        for number in range(first, end):
            group = f"group-{number % self._groups}"
            at = self._started + number // self._groups * 5000
            value = event(group, number, at, self.group_partitions).to_bytes()
            producer.send(name, group_key("bench", group), value)
        producer.flush()
        return len(value)


def event(group: str, number: int, at: int, count: int) -> OffsetEvent:
    """Of a group with `count` partitions that has consumed `number` records of each at that time,
    Unix milliseconds."""
    columns = TopicPositions.model_construct(
        partition=list(range(count)),
        committed=[number] * count,
        committed_at=[at - 100] * count,
        commits=[1] * count,
        log_start=[0] * count,
        log_end=[number + 10] * count,
    )
    return OffsetEvent.model_construct(
        cluster="bench",
        group=group,
        source="offsets_topic",
        observed_at=at,
        position=number,
        topics={"orders": columns},
    )


def _measure(
    load: Load, cold: int, events: int, *, silver: bool, gold: bool, replay: bool
) -> dict[str, Any]:
    settings = load.settings
    started = time.perf_counter()
    spark = open_session(settings.archiver, "warren-bench-archive")
    session_s = time.perf_counter() - started
    first = archive_all(spark, settings)
    load.fill(cold, events)
    then = archive_all(spark, settings)
    verify(spark, settings, events)
    more = _measure_silver(spark, load, events) if silver else {}
    more |= _measure_gold(spark, load, more["positions"]) if gold else {}
    more |= _measure_replay(spark, load, events) if replay else {}
    peak = usage(jvm()).peak_rss_mb
    spark.stop()
    warm = events - cold
    return {
        "events": warm,
        "events_per_s": round(warm / then.seconds),
        "events_per_cpu_s": round(warm / then.cpu_s),
        "seconds": round(then.seconds, 1),
        "cold_events": cold,
        "cold_seconds": round(first.seconds, 1),
        "cold_cpu_s": round(first.cpu_s, 1),
        "jvm_peak_rss_mb": round(peak),
        "session_s": round(session_s, 1),
        **more,
    }


def _measure_silver(spark: SparkSession, load: Load, events: int) -> dict[str, Any]:
    """Positions and their minutes from all events in one batch, from nothing; then evaluations."""
    settings = load.settings
    lake = Lake.at(settings.archiver.path)
    ensure(spark, lake)
    started, before = time.perf_counter(), usage(jvm())
    topics = {OFFSETS.full_name(settings.home.topic_prefix): OFFSETS}
    Silver(spark, lake, topics).take(spark.read.format("delta").load(lake.events))
    seconds, cpu_s = time.perf_counter() - started, usage(jvm()).cpu_s - before.cpu_s
    found = spark.read.format("delta").load(lake.silver(POSITIONS.name)).count()
    if found != events * load.group_partitions:
        sys.exit(f"{events * load.group_partitions} positions were observed, {found} in silver")
    started, before = time.perf_counter(), usage_with_children(jvm())
    judged = Evaluations(spark, lake, settings).catch_up()
    after = usage_with_children(jvm())
    stored = _bytes(lake, ".")
    return {
        "positions": found,
        "positions_per_s": round(found / seconds),
        "positions_per_cpu_s": round(found / cpu_s),
        "evaluations": judged,
        "evaluations_per_s": round(judged / (time.perf_counter() - started)),
        "evaluations_per_cpu_s": round(judged / (after.cpu_s - before.cpu_s)),
        "lake_bytes_per_million_positions": round(stored / found * 1_000_000),
        "peak_rss_with_python_mb": round(after.peak_rss_mb),
    }


def _measure_gold(spark: SparkSession, load: Load, positions: int) -> dict[str, Any]:
    """All tables from all of silver, from nothing; then once more, when nothing has changed."""
    settings = load.settings
    lake = Lake.at(settings.archiver.path)
    ensure_gold(spark, lake)
    gold = Gold(spark, lake, settings, SystemClock())
    started, before = time.perf_counter(), usage(jvm()).cpu_s
    written = sum(gold.catch_up().values())
    seconds, cpu_s = time.perf_counter() - started, usage(jvm()).cpu_s - before
    before = usage(jvm()).cpu_s
    if gold.catch_up() != dict.fromkeys(TABLES_OF_GOLD, 0):
        sys.exit("gold has changed, though silver has not")
    return {
        "gold_rows": written,
        "gold_seconds": round(seconds, 1),
        "gold_cpu_s": round(cpu_s, 1),
        "gold_cpu_s_unchanged": round(usage(jvm()).cpu_s - before, 1),
        "gold_s_per_million_positions": round(seconds / positions * 1_000_000, 1),
        "gold_bytes": _bytes(lake, "gold"),
    }


def _bytes(lake: Lake, layer: str) -> int:
    return sum(file.stat().st_size for file in Path(_local(lake), layer).rglob("*.parquet"))


def _measure_replay(spark: SparkSession, load: Load, events: int) -> dict[str, Any]:
    """All events judged by another policy, as `warren replay` does it, without what is written."""
    now = SystemClock().now_ms()
    archived = Archived(spark, load.settings, Period(now - HOUR_MS, now + HOUR_MS))
    if archived.count != events:
        sys.exit(f"{events} events were produced, {archived.count} are judged")
    other = changed(load.settings, ["evaluation.intervals=8"])
    rounds = []
    for _ in range(ROUNDS):
        started, before = time.perf_counter(), usage_with_children(jvm()).cpu_s
        found = archived.judged(other)
        cpu_s = usage_with_children(jvm()).cpu_s - before
        rounds.append(_Spent(time.perf_counter() - started, cpu_s))
    return {
        "replayed_incidents": len(found),
        "replay_first_cpu_s": round(rounds[0].cpu_s, 1),
        "replay_events_per_s": round(events / min(spent.seconds for spent in rounds)),
        "replay_events_per_cpu_s": round(events / min(spent.cpu_s for spent in rounds)),
    }


class _Spent(NamedTuple):
    """Of the clock, and by the processors."""

    seconds: float
    cpu_s: float


def archive_all(spark: SparkSession, settings: Settings) -> _Spent:
    started, before = time.perf_counter(), usage(jvm())
    archive(spark, settings, threading.Event(), once=True, clock=SystemClock(), topics=[OFFSETS])
    after = usage(jvm())
    return _Spent(time.perf_counter() - started, after.cpu_s - before.cpu_s)


def _local(lake: Lake) -> str:
    return lake.root.removeprefix("file:")


def jvm() -> int:
    """Spark's, beside which a broker's may run."""
    children = psutil.Process().children()
    (found,) = (
        each for each in children if "org.apache.spark.deploy.SparkSubmit" in each.cmdline()
    )
    return found.pid


def verify(spark: SparkSession, settings: Settings, events: int) -> None:
    """Every event once, or the figure is worth nothing."""
    lake = Lake.at(settings.archiver.path)
    table = lake.read(spark, lake.events)
    assert table is not None
    places = table.agg(F.count("offset"), F.count_distinct("partition", "offset")).first()
    if places is None or set(places) != {events}:
        sys.exit(f"{events} events were produced, archived are {places}")


if __name__ == "__main__":
    main()
