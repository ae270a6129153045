"""`warren archive backfill`: the rows of silver and gold that a day's events make, made again."""

from datetime import date, timedelta

from delta.tables import DeltaTable
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.contracts.topics import ARCHIVED
from warren.settings import Settings

from warren_archiver.errors import ArchiveFailed, NothingArchived, spark_cause
from warren_archiver.gold.catalogue import PROGRESS
from warren_archiver.gold.gold import Gold
from warren_archiver.gold.gold import ensure as ensure_gold
from warren_archiver.lake.lake import Lake, as_of, exists, newest_version
from warren_archiver.moments import moment
from warren_archiver.silver.catalogue import EVALUATIONS
from warren_archiver.silver.evaluations import judged_from_nothing
from warren_archiver.silver.silver import Silver, ensure
from warren_archiver.silver.upsert import upsert
from warren_archiver.steps import Step, Tell, untold


def backfill(
    spark: SparkSession, settings: Settings, day: date, clock: Clock, tell: Tell = untold
) -> dict[str, int]:
    """Rows written, by layer and table: those that were missing or other. Done again, it writes
    none.

    Gold takes in what has changed in silver, and makes the day again; not where there is none yet.
    Evaluations follow from all events before them: made again only while all of these are there.
    Raises NothingArchived, or ArchiveFailed, as when the archiver writes the same rows just now.
    """
    lake = Lake.at(settings.archiver.path)
    table = None  # one version, though the archiver adds to it, and upkeep drops days
    if exists(spark, lake.events):
        table = as_of(spark, lake.events, newest_version(spark, lake.events))
    events = None if table is None else table.where(F.col("date") == day)
    if table is None or events is None or events.isEmpty():
        raise NothingArchived(f"no event of {day} is in {lake.events}{_why(settings, day, clock)}")
    try:
        ensure(spark, lake)
        written = _silver(spark, lake, settings, table, day, tell)
        found = {f"silver/{name}": rows for name, rows in written.items()}
        for name, rows in _gold(spark, lake, settings, day, clock, tell).items():
            found[f"gold/{name}"] = rows
    except (PySparkException, Py4JError) as problem:
        raise ArchiveFailed(spark_cause(problem)) from problem
    return found


def _why(settings: Settings, day: date, clock: Clock) -> str:
    today = moment(clock).date()
    if day > today:
        return ": it has not begun"
    kept = settings.archiver.keep_days
    return f": older than archiver.keep_days = {kept}" if (today - day).days > kept else ""


def _silver(
    spark: SparkSession, lake: Lake, settings: Settings, table: DataFrame, day: date, tell: Tell
) -> dict[str, int]:
    names = {topic.full_name(settings.home.topic_prefix): topic for topic in ARCHIVED}
    written = Silver(spark, lake, names).take(table.where(F.col("date") == day), tell)
    if _whole_since(spark, lake, table) is not None:
        return written
    tell(Step("judging", EVALUATIONS.name, 0, 1))
    if (judged := judged_from_nothing(table, settings)) is not None:
        written[EVALUATIONS.name] = _put(spark, lake, judged, day)
    tell(Step("judging", "", 1, 1))
    return written


def _gold(
    spark: SparkSession, lake: Lake, settings: Settings, day: date, clock: Clock, tell: Tell
) -> dict[str, int]:
    if not exists(spark, lake.gold(PROGRESS.name)):
        return {}
    ensure_gold(spark, lake)
    return Gold(spark, lake, settings, clock, tell).catch_up([day])


def _put(spark: SparkSession, lake: Lake, judged: DataFrame, day: date) -> int:
    """Evaluations of events that were appended on the day: their own days may be others."""
    of_day = judged.where(F.to_date("kafka_timestamp") == day).persist()
    days = [row["date"] for row in of_day.select("date").distinct().collect()]
    path = lake.silver(EVALUATIONS.name)
    stored = spark.read.format("delta").load(path).where(F.col("date").isin(days))
    written = upsert(spark, path, EVALUATIONS, of_day, stored)
    of_day.unpersist()
    return written


def _whole_since(spark: SparkSession, lake: Lake, events: DataFrame) -> date | None:
    """The first day that can be made again; None when nothing has been removed yet."""
    history = DeltaTable.forPath(spark, lake.events).history()
    if not history.where("operation = 'DELETE'").limit(1).collect():
        return None
    row = events.agg(F.min("date").alias("day")).first()
    return None if row is None or row["day"] is None else row["day"] + timedelta(days=2)
