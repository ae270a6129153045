"""Rows into a table: those that are new are added, those that differ replaced, no others."""

from __future__ import annotations

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.table import Table

ROWS_OF_A_FILE = 100_000
"""So many new rows of a day are one file, whatever the number of tasks that made them."""
_CHANGE, _DAY = "_change", "_day"


def upsert(
    spark: SparkSession, path: str, table: Table, wanted: DataFrame, stored: DataFrame
) -> int:
    """Makes the table have the rows that are wanted; how many were written. Done again, it writes
    none.

    `stored`: all rows of the table that may have a key of these, and perhaps others.
    """
    changed = _changed(table, wanted, stored).persist()
    try:
        counts = {
            row[_CHANGE]: (row["rows"], row["days"])
            for row in changed.groupBy(_CHANGE)
            .agg(F.count(F.lit(1)).alias("rows"), F.collect_set(_DAY).alias("days"))
            .collect()
        }
        new: int = counts.get("new", (0, []))[0]
        other: int
        other, days = counts.get("other", (0, []))
        if other:
            _merge(spark, path, table, changed, days)
        elif new:
            rows = table.conform(changed)
            if new <= ROWS_OF_A_FILE:
                rows = rows.coalesce(1)
            rows.write.format("delta").mode("append").save(path)
        return new + other
    finally:
        changed.unpersist()


def _changed(table: Table, wanted: DataFrame, stored: DataFrame) -> DataFrame:
    """Wanted rows that are not stored so, whether they are new, and the day of those that are
    stored."""
    values = F.struct(*table.names)
    before = stored.select(*table.key, values.alias("_stored"))
    joined = wanted.join(before, list(table.key), "left")
    differs = ~F.struct(*(F.col(name) for name in table.names)).eqNullSafe(F.col("_stored"))
    is_new = F.col("_stored").isNull()
    return joined.where(is_new | differs).select(
        *table.names,
        F.when(is_new, "new").otherwise("other").alias(_CHANGE),
        F.col("_stored.date").alias(_DAY),
    )


def _merge(
    spark: SparkSession, path: str, table: Table, changed: DataFrame, days: list[object]
) -> None:
    """`days`: of the rows that are replaced; files of others are not opened."""
    same = " AND ".join(f"stored.`{name}` = changed.`{name}`" for name in table.key)
    listed = ", ".join(f"DATE'{day}'" for day in days)
    values: dict[str, str | Column] = {f"`{name}`": f"changed.`{name}`" for name in table.names}
    (
        DeltaTable.forPath(spark, path)
        .alias("stored")
        .merge(changed.alias("changed"), f"stored.date IN ({listed}) AND {same}")
        .whenMatchedUpdate(set=values)
        .whenNotMatchedInsert(values=values)
        .execute()
    )
