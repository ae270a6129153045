"""`warren archive check`: topics as a plain consumer finds them, tables as Spark counts them."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import SystemClock
from warren.contracts.topics import CATALOGUE, Topic
from warren.kafka.connection import connect
from warren.kafka.topics import HOME
from warren.settings import Settings

from warren_archiver.check.topic_check import TableOffsets, TopicCheck, compare
from warren_archiver.check.topic_offsets import read_ends, read_offsets
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.offset_ranges import OffsetRanges

LOOK_EVERY = 2.0  # seconds, or as long as a look takes: the archiver may need the processors


def check(
    spark: SparkSession, settings: Settings, *, topics: Sequence[Topic] = CATALOGUE, wait: float
) -> list[TopicCheck]:
    """Checks every topic. Raises KafkaError.

    A running archiver may take `wait` seconds to archive what is in the topics now. It writes a
    batch's rows before its quarantined records, so what it is writing looks incomplete.
    """
    home = settings.home
    admin = connect(HOME, "home", home)
    lake = Lake.at(settings.archiver.path)
    names = {topic: topic.full_name(home.topic_prefix) for topic in topics}
    retained = {topic: read_offsets(home, admin, name) for topic, name in names.items()}
    checks: dict[Topic, TopicCheck] = {}
    clock, pause = SystemClock(), threading.Event()
    deadline = clock.monotonic() + wait
    while True:
        started = clock.monotonic()
        late = started >= deadline
        todo = [topic for topic in topics if topic not in checks or not checks[topic].equal]
        tables = _archived(spark, lake, [lake.bronze(topic) for topic in todo])
        quarantine = _archived(spark, lake, [lake.quarantine])
        older = _older(spark, lake)
        for topic in todo:
            name = names[topic]
            ends = read_ends(admin, name)  # after the tables: their rows lie below it
            table, refused = tables.get(name, {}), quarantine.get(name, {})
            found, before = retained[topic], older.get(name, {})
            checks[topic] = compare(topic, name, found, table, refused, ends, before)
        if late or all(found.equal for found in checks.values()):
            return list(checks.values())
        pause.wait(max(LOOK_EVERY, clock.monotonic() - started))


def _older(spark: SparkSession, lake: Lake) -> dict[str, dict[int, OffsetRanges]]:
    """Gaps from before the archive began, by topic and partition."""
    table = lake.read(spark, lake.gaps)
    if table is None:
        return {}
    columns = ("kafka_topic", "kafka_partition", "first_offset", "last_offset")
    ranges: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for topic, partition, first, last in table.where("before_archive").select(*columns).collect():
        ranges[topic, partition].append((first, last + 1))
    found: dict[str, dict[int, OffsetRanges]] = defaultdict(dict)
    for (topic, partition), gaps in ranges.items():
        found[topic][partition] = OffsetRanges.of(gaps)
    return found


def _archived(
    spark: SparkSession, lake: Lake, paths: Sequence[str]
) -> dict[str, dict[int, TableOffsets]]:
    """By topic and partition. Spark sends ranges only: in a run of consecutive offsets the
    difference between an offset and its rank stays the same.
    """
    tables = [table for path in paths if (table := lake.read(spark, path)) is not None]
    if not tables:
        return {}
    places = ("kafka_topic", "kafka_partition")
    rank = F.expr(f"row_number() OVER (PARTITION BY {', '.join(places)} ORDER BY kafka_offset)")
    runs = (
        reduce(DataFrame.union, [table.select(*places, "kafka_offset") for table in tables])
        .groupBy(*places, "kafka_offset")
        .agg(F.count(F.lit(1)).alias("rows"))
        .withColumn("run", F.col("kafka_offset") - rank)
        .groupBy(*places, "run")
        .agg(
            F.min("kafka_offset").alias("first"),
            F.max("kafka_offset").alias("last"),
            F.sum("rows").alias("rows"),
        )
        .collect()
    )
    ranges: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    counts: dict[tuple[str, int], int] = defaultdict(int)
    for topic, partition, _, first, last, rows in runs:
        ranges[topic, partition].append((first, last + 1))
        counts[topic, partition] += rows
    found: dict[str, dict[int, TableOffsets]] = defaultdict(dict)
    for (topic, partition), offsets in ranges.items():
        rows = counts[topic, partition]
        found[topic][partition] = TableOffsets(OffsetRanges.of(offsets), rows)
    return found
