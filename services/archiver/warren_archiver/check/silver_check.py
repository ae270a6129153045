"""Silver compared with what all archived events make of it, at once and from nothing.

As of the version of the table of events that silver has taken in: what came since is to do. Days of
which events have been removed cannot be made again, nor the one after them; they are left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, timedelta

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import CATALOGUE
from warren.settings import Settings

from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.lake import Lake
from warren_archiver.silver.catalogue import EVALUATIONS, TABLES
from warren_archiver.silver.evaluations import judged_from_nothing
from warren_archiver.silver.table import Table
from warren_archiver.silver.whole import whole


@dataclass(frozen=True, slots=True)
class TableCheck:
    """One table. `differences` are sentences; there are none when it is right."""

    table: str
    rows: int
    """That were compared."""
    missing: int
    invented: int
    """Rows that no event makes."""
    other: int
    """Rows that have other values than the events make."""
    differences: list[str] = field(default_factory=list)

    @property
    def correct(self) -> bool:
        return not self.differences


def check_silver(spark: SparkSession, settings: Settings) -> list[TableCheck]:
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
    return [
        _compare(table, wanted[table.name], spark.read.format("delta").load(path), since)
        for table in TABLES
        if table.name in wanted and DeltaTable.isDeltaTable(spark, path := lake.silver(table.name))
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


def _compare(table: Table, wanted: DataFrame, stored: DataFrame, since: date | None) -> TableCheck:
    if since is not None:
        wanted, stored = (frame.where(F.col("date") >= since) for frame in (wanted, stored))
    values = F.struct(*table.names)
    # A row that is there twice differs from one: how often counts as well.
    one = wanted.groupBy(*table.key).agg(F.min(values).alias("w"), F.count("*").alias("wn"))
    other = stored.groupBy(*table.key).agg(F.min(values).alias("s"), F.count("*").alias("sn"))
    same_key = [F.col(f"one.{name}").eqNullSafe(F.col(f"other.{name}")) for name in table.key]
    both = one.alias("one").join(other.alias("other"), same_key, "full")
    differs = ~F.struct("w", "wn").eqNullSafe(F.struct("s", "sn"))
    found = both.agg(
        F.count("sn"),
        F.count(F.when(F.col("sn").isNull(), 1)),
        F.count(F.when(F.col("wn").isNull(), 1)),
        F.count(F.when(F.col("sn").isNotNull() & F.col("wn").isNotNull() & differs, 1)),
        F.min(F.when(differs, F.coalesce("w.date", "s.date"))),
    ).first()
    assert found is not None  # an aggregate has a row
    rows, missing, invented, unlike, day = found
    said = [
        f"{count} {what}, the first on {day}"
        for count, what in (
            (missing, "missing"),
            (invented, "that no event makes"),
            (unlike, "unlike what the events make"),
        )
        if count
    ]
    return TableCheck(table.name, rows, missing, invented, unlike, said)
