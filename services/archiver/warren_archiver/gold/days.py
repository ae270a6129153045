"""Whole days of a table replaced, where anything in them comes out otherwise than it is stored."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.table import Table
from warren_archiver.silver.upsert import ROWS_OF_A_FILE, differs, with_stored


def replace(path: str, table: Table, made: DataFrame, stored: DataFrame) -> int:
    """Makes the table's days have the rows that are made, all of these days; how many were new or
    others before. Done again, it writes none.

    `stored`: the rows that the table has of these days. Two that replace a day at once do not both
    succeed: Delta ends the second one.
    """
    rows = table.conform(made).persist()
    try:
        day = F.when(differs(table), F.col("date"))
        found = with_stored(table, rows, stored).agg(
            F.count(F.lit(1)).alias("rows"),
            F.count(day).alias("changed"),
            F.collect_set(day).alias("days"),
        )
        first = found.first()
        assert first is not None  # one row, of all
        if first["changed"]:
            kept = rows.where(F.col("date").isin(first["days"]))
            listed = ", ".join(f"DATE'{day}'" for day in first["days"])
            if first["rows"] <= ROWS_OF_A_FILE:
                kept = kept.coalesce(1)
            (
                kept.write.format("delta")
                .mode("overwrite")
                .option("replaceWhere", f"date IN ({listed})")
                .save(path)
            )
        return int(first["changed"])
    finally:
        rows.unpersist()
