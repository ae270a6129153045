"""What keeps the lake small and quick to read: days that are over are dropped when it is time for
that, and put in order before; files that nobody needs any more are removed.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple

import structlog
from delta.tables import DeltaTable
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.settings import ArchiverSettings

from warren_archiver.errors import spark_cause
from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.gold.catalogue import UPKEEP_PROGRESS
from warren_archiver.gold.touched import touched
from warren_archiver.lake.lake import Lake, ensure, exists, newest_version
from warren_archiver.moments import moment
from warren_archiver.replay_catalogue import TABLES as REPLAY
from warren_archiver.silver import catalogue as silver
from warren_archiver.silver.catalogue import TABLES as SILVER
from warren_archiver.silver.table import Kept
from warren_archiver.silver.upsert import upsert
from warren_archiver.steps import Tell, told, untold
from warren_archiver.streaming.registered import register

log = structlog.get_logger(__name__)
FIRST = 600.0  # seconds after the start
EVERY = 86_400.0
CLUSTERED = {
    silver.POSITIONS.name: "group",
    silver.PARTITION_MINUTES.name: "group",
    silver.GROUP_MINUTES.name: "group",
    silver.LATENESS_MINUTES.name: "group",
    silver.TOPIC_MINUTES.name: "topic",
    silver.EVALUATIONS.name: "group",
}
"""By what rows of a day lie together: who asks for one of these opens a part of the day's files."""


class Upkept(NamedTuple):
    """What was done to a table."""

    table: str
    files_before: int
    files: int
    days_in_order: int
    days_dropped: int


class Upkeep:
    """Small files are joined by Delta itself, with the batch that makes them too many. What was
    joined, and days that are over, go here; readers find each version of the last week.
    """

    def __init__(
        self, spark: SparkSession, lake: Lake, settings: ArchiverSettings, clock: Clock
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._kept_days = {
            Kept.AS_EVENTS: settings.keep_days,
            Kept.AS_MINUTES: settings.minutes_keep_days,
        }
        self._schema = settings.schema_name
        self._clock = clock
        self._next = clock.monotonic() + FIRST

    def look(self) -> None:
        """At a quiet moment; does nothing until it is time. What fails is tried again next time."""
        if self._clock.monotonic() < self._next:
            return
        self._next = self._clock.monotonic() + EVERY
        try:
            self.run()
        except (PySparkException, Py4JError) as problem:
            log.warning("upkeep failed", problem=spark_cause(problem))

    def run(self, tell: Tell = untold) -> list[Upkept]:
        """Removes rows of days that are no longer kept, puts days that are over in order, then
        removes files that no version of the last week has; registers what has no name yet. What
        was done to each table."""
        lake = self._lake
        bronze = [(lake.events, Kept.AS_EVENTS), (lake.gaps, Kept.ALWAYS)]
        typed = [(lake.silver(table.name), table.kept) for table in SILVER]
        gold = [(lake.gold(table.name), table.kept) for table in GOLD]
        replay = [(lake.replay(table.name), table.kept) for table in REPLAY]
        there = [
            (path, how)
            for path, how in (*bronze, *typed, *gold, *replay)
            if exists(self._spark, path)
        ]
        done = [
            self._keep(path, how)
            for path, how in told("upkeep", there, tell, lambda each: _name(each[0]))
        ]
        if self._schema:
            register(self._spark, lake, self._schema)
        return done

    def _keep(self, path: str, how: Kept) -> Upkept:
        table = DeltaTable.forPath(self._spark, path)
        before = _files(table)
        name = _name(path)
        dropped = self._forget(table, name, how)
        ordered = self._put_in_order(path, name, CLUSTERED[name]) if name in CLUSTERED else 0
        if path == self._lake.replay(name):  # a file for each run
            table.optimize().executeCompaction()
        table.vacuum()
        now = _files(DeltaTable.forPath(self._spark, path))
        return Upkept(path.removeprefix(f"{self._lake.root}/"), before, now, ordered, dropped)

    def _forget(self, table: DeltaTable, name: str, how: Kept) -> int:
        """How many days were dropped."""
        kept = self._kept_days.get(how)
        if kept is None:
            return 0
        old = F.col("date") < F.lit(self._today() - timedelta(days=kept))
        days = [row["date"] for row in table.toDF().where(old).select("date").distinct().collect()]
        if days:
            table.delete(old)
            first, last = str(min(days)), str(max(days))
            log.info("days dropped", table=name, days=len(days), first=first, last=last, kept=kept)
        return len(days)

    def _put_in_order(self, path: str, name: str, by: str) -> int:
        """Days that are over and have changed since the day of the last time, and that day itself;
        how many there were. Once a day: today's change with each batch of silver."""
        progress, today = self._lake.gold(UPKEEP_PROGRESS.name), self._today()
        ensure(self._spark, progress, UPKEEP_PROGRESS)
        stored = self._spark.read.format("delta").load(progress)
        noted = stored.where(F.col("source") == name).first()
        if noted is not None and noted["date"] >= today:
            return 0
        version, since = newest_version(self._spark, path), None
        if noted is not None:
            since = noted["version"]
        days = touched(self._spark, path, since, version)
        if noted is not None:
            days |= {noted["date"]}
        over = sorted(day for day in days if day < today)
        for day in over:
            rows = DeltaTable.forPath(self._spark, path).optimize().where(f"date = '{day}'")
            rows.executeZOrderBy(by)
        row = [(name, version, today)]
        told = self._spark.createDataFrame(row, UPKEEP_PROGRESS.schema)
        upsert(self._spark, progress, UPKEEP_PROGRESS, told, stored)
        return len(over)

    def _today(self) -> date:
        return moment(self._clock).date()


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _files(table: DeltaTable) -> int:
    found = table.detail().select("numFiles").first()
    return 0 if found is None else int(found["numFiles"])
