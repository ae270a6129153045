"""Which days of a table have changed since one of its versions: Delta's log says it."""

from __future__ import annotations

from datetime import date

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.lake import as_of

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
