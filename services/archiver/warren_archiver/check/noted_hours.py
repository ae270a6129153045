"""Hours that gold is noted to have as a whole, and has not read.

Earlier Warrens noted what silver had when a pass over gold ended, though the pass had read an
earlier version of it. Reports trust that note.
"""

from __future__ import annotations

from datetime import timedelta

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.settings import Settings
from warren.words import utc

from warren_archiver.check.table_check import TableCheck
from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.gold.catalogue import PROGRESS
from warren_archiver.gold.gold import Gold, ensure
from warren_archiver.gold.snapshot import day_of, newest_ms
from warren_archiver.lake.lake import Lake, as_of
from warren_archiver.steps import Tell


def put_right(
    spark: SparkSession, settings: Settings, lake: Lake, clock: Clock, tell: Tell
) -> list[TableCheck]:
    """Makes such hours again, and notes what was read; which there were, nothing for none.

    Raises ArchiveFailed, as where files that gold was made of have been removed since.
    """
    try:
        noted = spark.read.format("delta").load(lake.gold(PROGRESS.name)).where("until IS NOT NULL")
        rows = noted.select("source", "version", F.unix_millis("until").alias("until")).collect()
        wrong: dict[str, tuple[int, int]] = {}
        for name, version, until in rows:
            read = newest_ms(as_of(spark, lake.silver(name), version), name, until)
            if read is not None and read < until:
                wrong[name] = read, until
        if not wrong:
            return []
        _make_again(spark, settings, lake, clock, tell, wrong)
    except (PySparkException, Py4JError) as problem:
        raise ArchiveFailed(f"gold could not be checked: {spark_cause(problem)}") from problem
    said = [
        f"{name} was noted as whole until {utc(until)} and had been read until {utc(read)}; "
        "these hours have been made again"
        for name, (read, until) in sorted(wrong.items())
    ]
    return [TableCheck(f"gold/{PROGRESS.name}", len(rows), 0, 0, len(wrong), said)]


def _make_again(
    spark: SparkSession,
    settings: Settings,
    lake: Lake,
    clock: Clock,
    tell: Tell,
    wrong: dict[str, tuple[int, int]],
) -> None:
    """`wrong`: until when tables of silver were read, and until when that was noted."""
    first = day_of(min(read for read, _ in wrong.values()))
    last = day_of(max(until for _, until in wrong.values()))
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    ensure(spark, lake)
    whole_until = {name: read for name, (read, _) in wrong.items()}
    Gold(spark, lake, settings, clock, tell).catch_up(days, whole_until)
