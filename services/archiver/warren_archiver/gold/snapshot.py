"""Silver as a pass of gold reads it: the same versions from the first step to the note at the end.

Silver goes on meanwhile. What a pass says of how far it has come is of what it has read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, timedelta

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.events import EARLIEST
from warren_archiver.lake.lake import Lake, as_of, newest_version
from warren_archiver.lake.table import Table
from warren_archiver.silver import catalogue as silver

_ENDS = {
    silver.EVALUATIONS.name: "at",
    silver.GROUP_MINUTES.name: "minute",
    silver.LATENESS_MINUTES.name: "minute",
}
"""Columns that say up to when a table has rows."""


@dataclass(frozen=True)
class Snapshot:
    """`versions` by the tables' names; `settled_ms`: what is dated later may come yet, Unix
    milliseconds; `at_rest`: no batch of silver was half taken in."""

    spark: SparkSession
    lake: Lake
    versions: dict[str, int]
    settled_ms: int
    at_rest: bool
    _frames: dict[str, DataFrame] = field(default_factory=dict)

    @classmethod
    def take(
        cls,
        spark: SparkSession,
        lake: Lake,
        tables: Collection[Table],
        settled_ms: int,
    ) -> Snapshot:
        """Of these tables, now."""
        checkpoint = Checkpoint(spark, lake.silver_checkpoint)
        before = _batch_done(checkpoint)
        versions = {table.name: newest_version(spark, lake.silver(table.name)) for table in tables}
        at_rest = before is not None and before == _batch_done(checkpoint)
        return cls(spark, lake, versions, settled_ms, at_rest)

    def read(self, name: str) -> DataFrame:
        """A table's rows: of a version that is not the newest Delta makes a list of files each
        time that it is opened, so that is done once."""
        if name not in self._frames:
            self._frames[name] = as_of(self.spark, self.lake.silver(name), self.versions[name])
        return self._frames[name]

    def until(self, name: str, days: Collection[date], before: int | None) -> int | None:
        """Up to when a table has all of its rows, Unix milliseconds; None where it has no such
        column, or none. `days` have changed since that was said to be `before`."""
        if not (name in _ENDS and self.at_rest and days):
            return before
        newest = newest_ms(self.read(name), name, before, days)
        return before if newest is None else min(newest, self.settled_ms)


def newest_ms(
    rows: DataFrame, name: str, since: int | None, days: Collection[date] = ()
) -> int | None:
    """Of the newest row of a table, Unix milliseconds, among those of these days and of all from
    the day before `since` on; None for no row, and for a table without such a column."""
    if (column := _ENDS.get(name)) is None:
        return None
    looked_at = F.col("date").isin(sorted(days))
    if since is not None:
        looked_at |= F.col("date") >= F.lit(day_of(since) - timedelta(days=1))
    found = rows.where(looked_at).agg(F.unix_millis(F.max(column)).alias("newest")).first()
    return None if found is None else found["newest"]


def day_of(milliseconds: int) -> date:
    """UTC."""
    return (EARLIEST + timedelta(milliseconds=milliseconds)).date()


def _batch_done(checkpoint: Checkpoint) -> int | None:
    """Number of silver's last batch; None while one is being taken in."""
    return None if checkpoint.begun() else checkpoint.newest()


_FILE = "struct<partitionValues:map<string,string>,dataChange:boolean>"
_LOG = f"add {_FILE}, remove {_FILE}"


def touched(spark: SparkSession, path: str, since: int | None, version: int) -> frozenset[date]:
    """Days with rows that were added, replaced or removed after version `since`, up to `version`.

    All days of the table when `since` is None, or when its log does not reach back so far. Joining
    of files changes no day.
    """
    if since is not None and since <= version:
        files = [
            f"{path}/_delta_log/{number:020d}.json" for number in range(since + 1, version + 1)
        ]
        try:
            return _days_of_log(spark, files) if files else frozenset()
        except AnalysisException:
            pass  # the log's beginning was removed
    every = as_of(spark, path, version).select("date").distinct().collect()
    return frozenset(row["date"] for row in every if row["date"] is not None)


def _days_of_log(spark: SparkSession, files: list[str]) -> frozenset[date]:
    actions = spark.read.schema(_LOG).json(files)
    changed = F.when(F.col("add.dataChange"), F.col("add.partitionValues"))
    gone = F.when(F.col("remove.dataChange"), F.col("remove.partitionValues"))
    day = F.coalesce(changed, gone)["date"]
    rows = actions.select(day.alias("day")).where("day IS NOT NULL").distinct().collect()
    return frozenset(date.fromisoformat(row["day"]) for row in rows)
