"""Silver compared with what all archived events make of it, at once and from nothing.

As of the version of the table of events that silver has taken in: what came since is to do, though
some of it may be judged. Days of which events have been removed cannot be made again, nor the one
after them; they are left out.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import SystemClock
from warren.contracts.topics import ARCHIVED, OFFSETS
from warren.settings import Settings

from warren_archiver.check.table_check import TableCheck, compare_rows
from warren_archiver.errors import ArchiveFailed, SilverBeingWritten, spark_cause
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.lake import Lake, as_of, exists, newest_version
from warren_archiver.lake.table import Table
from warren_archiver.silver.catalogue import EVALUATION_PROGRESS, EVALUATIONS, TABLES
from warren_archiver.silver.evaluations import judged_from_nothing
from warren_archiver.silver.silver import whole
from warren_archiver.spark_failures import SPARK_FAILURES
from warren_archiver.steps import Tell, told, untold

LOOK_EVERY = 1.0  # seconds


class SilverAtRest(NamedTuple):
    """Silver at a moment at which nobody writes it: only then its tables fit each other and bronze.

    Versions: of bronze, which silver has taken in, and of each table that there is."""

    taken_in: int
    tables: dict[str, int]

    def read(self, spark: SparkSession, lake: Lake, name: str) -> DataFrame:
        """As it was then, whatever has been written since."""
        return as_of(spark, lake.silver(name), self.tables[name])


def silver_at_rest(
    spark: SparkSession, lake: Lake, tables: Sequence[Table], wait: float
) -> SilverAtRest | None:
    """None before silver has taken anything in.

    Raises SilverBeingWritten when a batch that was begun is not done within `wait` seconds.
    """
    checkpoint = Checkpoint(spark, lake.silver_checkpoint)
    clock, pause = SystemClock(), threading.Event()
    deadline = clock.monotonic() + wait
    while True:
        taken_in = checkpoint.taken_in()
        if not checkpoint.begun():
            if taken_in is None:
                return None
            versions = {
                table.name: newest_version(spark, lake.silver(table.name))
                for table in tables
                if exists(spark, lake.silver(table.name))
            }
            if not checkpoint.begun() and checkpoint.taken_in() == taken_in:
                return SilverAtRest(taken_in, versions)
        if clock.monotonic() >= deadline:
            raise SilverBeingWritten(wait)
        pause.wait(LOOK_EVERY)


def check_silver(
    spark: SparkSession, settings: Settings, tell: Tell = untold, *, wait: float = 0.0
) -> list[TableCheck]:
    """Every table that there is; none before silver has taken anything in.

    A running archiver may take `wait` seconds to end what it has begun; SilverBeingWritten after
    that. Raises ArchiveFailed where files of the events have been removed since silver took them
    in.
    """
    lake = Lake.at(settings.archiver.path)
    silver = silver_at_rest(spark, lake, TABLES, wait)
    if silver is None:
        return []
    try:
        return _checked(spark, settings, lake, silver, tell)
    except SPARK_FAILURES as problem:
        raise ArchiveFailed(
            f"silver could not be checked, which has taken in version {silver.taken_in} of "
            f"{lake.events}: "
            f"{spark_cause(problem)} (was archiver.silver_interval 0 for long?)"
        ) from problem


def _checked(
    spark: SparkSession, settings: Settings, lake: Lake, silver: SilverAtRest, tell: Tell
) -> list[TableCheck]:
    events = as_of(spark, lake.events, silver.taken_in)
    newest = as_of(spark, lake.events, newest_version(spark, lake.events))
    since = whole_since(spark, lake, events)
    names = {topic.full_name(settings.home.topic_prefix): topic for topic in ARCHIVED}
    wanted = whole(events, names)
    progress = silver.read(spark, lake, EVALUATION_PROGRESS.name)
    if since is None and (judged := _judged(settings, events, newest, progress)) is not None:
        wanted[EVALUATIONS.name] = judged
    there = [table for table in TABLES if table.name in wanted.keys() & silver.tables.keys()]
    return [
        compare_rows(table, wanted[table.name], silver.read(spark, lake, table.name), since)
        for table in told("silver", there, tell, lambda table: table.name)
    ]


def _judged(
    settings: Settings, events: DataFrame, newest: DataFrame, progress: DataFrame
) -> DataFrame | None:
    """Of the events that silver has taken in, and of those of the newest version that were judged
    beyond them."""
    place = ["topic_id", "partition"]
    name = OFFSETS.full_name(settings.home.topic_prefix)
    taken = events.where(F.col("topic") == name).groupBy(*place).agg(F.max("offset").alias("until"))
    until = taken.unionByName(progress.select(*place, "until"))
    ends = until.groupBy(*place).agg(F.max("until").alias("until"))
    of_topic = newest.where(F.col("topic") == name)
    of_silver = of_topic.join(F.broadcast(ends), place).where("offset <= until")
    return judged_from_nothing(of_silver.select(events.columns), settings)


def whole_since(spark: SparkSession, lake: Lake, events: DataFrame) -> date | None:
    """The first day that can be made again; None when nothing has been removed yet."""
    history = DeltaTable.forPath(spark, lake.events).history()
    if not history.where("operation = 'DELETE'").limit(1).collect():
        return None
    row = events.agg(F.min("date").alias("day")).first()
    return None if row is None or row["day"] is None else row["day"] + timedelta(days=2)
