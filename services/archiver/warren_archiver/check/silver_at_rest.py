"""Silver at a moment at which nobody writes it: only then its tables fit each other and bronze."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from warren.clock import SystemClock

from warren_archiver.errors import SilverBeingWritten
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.lake import Lake, as_of, exists, newest_version
from warren_archiver.silver.table import Table

LOOK_EVERY = 1.0  # seconds


class SilverAtRest(NamedTuple):
    """Versions: of bronze, which silver has taken in, and of each table that there is."""

    taken_in: int
    tables: dict[str, int]

    def read(self, spark: SparkSession, lake: Lake, name: str) -> DataFrame:
        """As it was then, whatever has been written since."""
        return as_of(spark, lake.silver(name), self.tables[name])


def silver_at_rest(
    spark: SparkSession, lake: Lake, tables: Sequence[Table], wait: float
) -> SilverAtRest | None:
    """None before silver has taken anything in.

    Raises SilverBeingWritten when a batch that was begun is not done within `wait` seconds.
    """
    checkpoint = Checkpoint(spark, lake.silver_checkpoint)
    clock, pause = SystemClock(), threading.Event()
    deadline = clock.monotonic() + wait
    while True:
        taken_in = checkpoint.taken_in()
        if not checkpoint.begun():
            if taken_in is None:
                return None
            versions = {
                table.name: newest_version(spark, lake.silver(table.name))
                for table in tables
                if exists(spark, lake.silver(table.name))
            }
            if not checkpoint.begun() and checkpoint.taken_in() == taken_in:
                return SilverAtRest(taken_in, versions)
        if clock.monotonic() >= deadline:
            raise SilverBeingWritten(wait)
        pause.wait(LOOK_EVERY)
