"""`warren archive backfill`: the silver rows that a day's events make, made again."""

from __future__ import annotations

from datetime import date

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import CATALOGUE
from warren.settings import Settings

from warren_archiver.check.silver_check import whole_since
from warren_archiver.errors import ArchiveFailed, NothingArchived, spark_cause
from warren_archiver.lake.lake import Lake
from warren_archiver.silver.catalogue import EVALUATIONS
from warren_archiver.silver.evaluations import judged_from_nothing
from warren_archiver.silver.silver import Silver, ensure
from warren_archiver.silver.upsert import upsert


def backfill(spark: SparkSession, settings: Settings, day: date) -> dict[str, int]:
    """Rows written, by table: those that were missing or other. Done again, it writes none.

    Evaluations follow from all events before them: made again only while all of these are there.
    Raises NothingArchived, or ArchiveFailed, as when the archiver writes the same rows just now.
    """
    lake = Lake.at(settings.archiver.path)
    table = lake.read(spark, lake.events)
    events = None if table is None else table.where(F.col("date") == day)
    if table is None or events is None or events.isEmpty():
        raise NothingArchived(f"no event of {day} is in {lake.events}")
    names = {topic.full_name(settings.home.topic_prefix): topic for topic in CATALOGUE}
    try:
        ensure(spark, lake)
        written = Silver(spark, lake, names).take(events)
        if whole_since(spark, lake, table) is not None:
            return written
        if (judged := judged_from_nothing(table, settings)) is not None:
            written[EVALUATIONS.name] = _put(spark, lake, judged, day)
        return written
    except (PySparkException, Py4JError) as problem:
        raise ArchiveFailed(spark_cause(problem)) from problem


def _put(spark: SparkSession, lake: Lake, judged: DataFrame, day: date) -> int:
    """Evaluations of events that were appended on the day: their own days may be others."""
    of_day = judged.where(F.to_date("kafka_timestamp") == day).persist()
    days = [row["date"] for row in of_day.select("date").distinct().collect()]
    path = lake.silver(EVALUATIONS.name)
    stored = spark.read.format("delta").load(path).where(F.col("date").isin(days))
    written = upsert(spark, path, EVALUATIONS, of_day, stored)
    of_day.unpersist()
    return written
