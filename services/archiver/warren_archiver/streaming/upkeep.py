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

from warren_archiver.errors import spark_cause
from warren_archiver.lake.lake import Lake

log = structlog.get_logger(__name__)
FIRST = 600.0  # seconds after the start
EVERY = 3600.0


class Upkeep:
    """Small files are joined by Delta itself, with the batch that makes them too many. What was
    joined, and days that are over, go here; readers that have just begun still find their files.
    """

    def __init__(self, spark: SparkSession, lake: Lake, keep_days: int, clock: Clock) -> None:
        self._spark = spark
        self._lake = lake
        self._keep_days = keep_days
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
        """Removes events of days that are no longer kept, then unused files."""
        events = DeltaTable.forPath(self._spark, self._lake.events)
        today = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).date()
        events.delete(F.col("date") < F.lit(today - timedelta(days=self._keep_days)))
        for path in (self._lake.events, self._lake.gaps, self._lake.topic_ids):
            DeltaTable.forPath(self._spark, path).vacuum()
