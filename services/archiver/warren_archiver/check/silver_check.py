"""Silver compared with what all archived events make of it, at once and from nothing.

As of the version of the table of events that silver has taken in: what came since is to do. Days of
which events have been removed cannot be made again, nor the one after them; they are left out.
"""

from __future__ import annotations

import json
from datetime import date, timedelta

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import CATALOGUE
from warren.settings import Settings

from warren_archiver.check.table_check import TableCheck, compare_rows
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.lake import Lake
from warren_archiver.silver.catalogue import EVALUATIONS, TABLES
from warren_archiver.silver.evaluations import judged_from_nothing
from warren_archiver.silver.whole import whole
from warren_archiver.steps import Tell, told, untold


def check_silver(spark: SparkSession, settings: Settings, tell: Tell = untold) -> list[TableCheck]:
    """Every table that there is; none before silver has taken anything in."""
    lake = Lake.at(settings.archiver.path)
    version = _taken_in(Checkpoint(spark, lake.silver_checkpoint))
    if version is None:
        return []
    events = spark.read.format("delta").option("versionAsOf", version).load(lake.events)
    since = whole_since(spark, lake, events)
    names = {topic.full_name(settings.home.topic_prefix): topic for topic in CATALOGUE}
    wanted = whole(events, names)
    judged = judged_from_nothing(events, settings) if since is None else None
    if judged is not None:
        wanted[EVALUATIONS.name] = judged
    paths = {table.name: lake.silver(table.name) for table in TABLES if table.name in wanted}
    there = [
        table
        for table in TABLES
        if table.name in paths and DeltaTable.isDeltaTable(spark, paths[table.name])
    ]
    return [
        compare_rows(
            table,
            wanted[table.name],
            spark.read.format("delta").load(paths[table.name]),
            since,
        )
        for table in told("silver", there, tell, lambda table: table.name)
    ]


def _taken_in(checkpoint: Checkpoint) -> int | None:
    """The last version of the events that is wholly in silver; None when there is none."""
    text = checkpoint.committed()
    if text is None:
        return None
    offset = json.loads(text)
    # An index of -1 stands for all before the version.
    version = int(offset["reservoirVersion"]) - (1 if int(offset["index"]) == -1 else 0)
    return version if version >= 0 else None


def whole_since(spark: SparkSession, lake: Lake, events: DataFrame) -> date | None:
    """The first day that can be made again; None when nothing has been removed yet."""
    history = DeltaTable.forPath(spark, lake.events).history()
    if not history.where("operation = 'DELETE'").limit(1).collect():
        return None
    row = events.agg(F.min("date").alias("day")).first()
    return None if row is None or row["day"] is None else row["day"] + timedelta(days=2)
