"""`warren archive backfill`: the rows of silver and gold that a day's events make, made again."""

from datetime import date

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import (
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.clock import Clock
from warren.contracts.topics import ARCHIVED
from warren.settings import Settings
from warren.words import moment

from warren_archiver.errors import ArchiveFailed, NothingArchived, spark_cause
from warren_archiver.lake.lake import Lake
from warren_archiver.refining.models import OF
from warren_archiver.refining.parts import Span, spans_of, within
from warren_archiver.refining.refine import Refinery, ensure
from warren_archiver.steps import Tell, untold


def backfill(
    spark: SparkSession, settings: Settings, day: date, clock: Clock, tell: Tell = untold
) -> dict[str, int]:
    """Rows written, by layer and table: those that were missing or other. Done again, it writes
    none.

    Raises NothingArchived, or ArchiveFailed, as when the archiver writes the same rows just now.
    """
    lake = Lake.at(settings.archiver.path)
    spans: list[Span] = []
    if (table := lake.read(spark, lake.events)) is not None:
        spans, *_ = spans_of(table.where(F.col("date") == day))
    if table is None or not spans:
        raise NothingArchived(f"no event of {day} is in {lake.events}{_why(settings, day, clock)}")
    names = {topic.full_name(settings.home.topic_prefix): topic for topic in ARCHIVED}
    try:
        ensure(spark, lake)
        refinery = Refinery(spark, lake, settings, names, clock)
        # Clocks may go back: what lies between the day's events is made again as well.
        written = refinery.take(table.where(within(spans)), tell).written
    except (PySparkException, Py4JError) as problem:
        raise ArchiveFailed(spark_cause(problem)) from problem
    return {f"{OF[name].layer}/{name}": rows for name, rows in written.items()}


def _why(settings: Settings, day: date, clock: Clock) -> str:
    today = moment(clock.now_ms()).date()
    if day > today:
        return ": it has not begun"
    kept = settings.archiver.keep_days
    return f": older than archiver.keep_days = {kept}" if (today - day).days > kept else ""
