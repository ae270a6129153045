"""What keeps the number of files from growing: files that nobody needs any more are removed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import structlog
from delta.tables import DeltaTable
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.settings import ArchiverSettings

from warren_archiver.errors import spark_cause
from warren_archiver.lake.lake import Lake
from warren_archiver.silver.catalogue import TABLES
from warren_archiver.silver.table import Kept

log = structlog.get_logger(__name__)
FIRST = 600.0  # seconds after the start
EVERY = 3600.0


class Upkeep:
    """Small files are joined by Delta itself, with the batch that makes them too many. What was
    joined, and days that are over, go here; readers that have just begun still find their files.
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

    def run(self) -> None:
        """Removes rows of days that are no longer kept, then unused files."""
        self._forget(self._lake.events, Kept.AS_EVENTS)
        for path in (self._lake.events, self._lake.gaps, self._lake.topic_ids):
            DeltaTable.forPath(self._spark, path).vacuum()
        for table in TABLES:
            path = self._lake.silver(table.name)
            if DeltaTable.isDeltaTable(self._spark, path):
                self._forget(path, table.kept)
                DeltaTable.forPath(self._spark, path).vacuum()

    def _forget(self, path: str, kept: Kept) -> None:
        days = self._kept_days.get(kept)
        if days is not None:
            today = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).date()
            old = F.col("date") < F.lit(today - timedelta(days=days))
            DeltaTable.forPath(self._spark, path).delete(old)
