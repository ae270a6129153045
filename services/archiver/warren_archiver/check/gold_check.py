"""Gold compared with what all of silver makes of it, at once and from nothing.

Of silver as gold has taken it in: what came since is to do. Days of which silver is no longer kept,
and the one after them, cannot be made again; gold keeps them as they were.
"""

from __future__ import annotations

import threading
from datetime import date, timedelta

from delta.tables import DeltaTable
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.settings import Settings

from warren_archiver.check.silver_check import LOOK_EVERY
from warren_archiver.check.table_check import TableCheck, compare_rows
from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.gold.catalogue import PROGRESS
from warren_archiver.gold.gold import DEFINED, first_kept
from warren_archiver.gold.plan import STEPS, Step
from warren_archiver.lake.lake import Lake, as_of, exists, newest_version
from warren_archiver.lake.table import Table
from warren_archiver.steps import Tell, told, untold


def check_gold(
    spark: SparkSession, settings: Settings, clock: Clock, tell: Tell = untold, *, wait: float = 0.0
) -> list[TableCheck]:
    """Every table, by the settings of now; none before gold has taken anything in.

    What differs because gold is being made is checked again after that, for which a running
    archiver may take `wait` seconds. Raises ArchiveFailed where files that gold was made of have
    been removed since: gold is hours behind silver then.
    """
    lake, pause = Lake.at(settings.archiver.path), threading.Event()
    if not exists(spark, lake.gold(PROGRESS.name)):
        return []
    deadline = clock.monotonic() + wait
    while True:
        noted = newest_version(spark, lake.gold(PROGRESS.name))
        checks = _checked(spark, settings, lake, clock, tell)
        if all(each.correct for each in checks) or not _written_since(spark, lake, noted):
            return checks
        while newest_version(spark, lake.gold(PROGRESS.name)) == noted:  # until it is made
            if clock.monotonic() >= deadline:
                return checks
            pause.wait(LOOK_EVERY)


def _written_since(spark: SparkSession, lake: Lake, noted: int) -> bool:
    """Whether rows of gold were written after this version of its progress, which is noted last."""
    progress = DeltaTable.forPath(spark, lake.gold(PROGRESS.name))
    row = progress.history().where(F.col("version") == noted).select("timestamp").first()
    paths = [lake.gold(step.table.name) for step in STEPS]
    written = (
        DeltaTable.forPath(spark, path).history().where(F.col("operation").isin("MERGE", "WRITE"))
        for path in paths
        if exists(spark, path)
    )
    after = F.lit(None if row is None else row["timestamp"])
    return any(not history.where(F.col("timestamp") > after).isEmpty() for history in written)


def _checked(
    spark: SparkSession, settings: Settings, lake: Lake, clock: Clock, tell: Tell
) -> list[TableCheck]:
    noted = spark.read.format("delta").load(lake.gold(PROGRESS.name)).collect()
    versions = {row["source"]: row["version"] for row in noted if row["source"] != DEFINED}
    frames = {name: as_of(spark, lake.silver(name), version) for name, version in versions.items()}
    checks = []
    try:
        for step in told("gold", STEPS if frames else (), tell, lambda each: each.table.name):
            stored = spark.read.format("delta").load(lake.gold(step.table.name))
            made = step.made(frames, settings)
            since = _since(step, settings, clock)
            found = compare_rows(
                step.table, made, stored, since, layer="gold", made_by="row of silver"
            )
            checks.append(found)
            frames[step.table.name] = _with_older(step.table, made, stored, since)
    except (PySparkException, Py4JError) as problem:
        raise ArchiveFailed(f"gold could not be checked: {spark_cause(problem)}") from problem
    return checks


def _since(step: Step, settings: Settings, clock: Clock) -> date | None:
    """The first day that silver has the rows of, and of the day before; None for all."""
    first = max(first_kept(each.table, settings.archiver, clock) for each in step.sources)
    return None if first == date.min else first + timedelta(days=1)


def _with_older(table: Table, made: DataFrame, stored: DataFrame, since: date | None) -> DataFrame:
    """What other tables are made of: days that cannot be made again are as they are stored."""
    if since is None:
        return made
    older = stored.where(F.col("date") < since).select(*table.names)
    return made.where(F.col("date") >= since).select(*table.names).unionByName(older)
