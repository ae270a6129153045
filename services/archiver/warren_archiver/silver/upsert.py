"""Rows into a table: those that are new are added, those that differ replaced, no others."""

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.table import Table

ROWS_OF_A_FILE = 100_000
"""So many rows of a day are one file, whatever the number of tasks that made them."""


def upsert(
    spark: SparkSession, path: str, table: Table, wanted: DataFrame, stored: DataFrame
) -> int:
    """Makes the table have the rows that are wanted; how many were written. Done again, it writes
    none.

    `stored`: all rows of the table that may have a key of these, and perhaps others.
    """
    stored_day = F.col("_stored.date").alias("_stored_day")
    joined = with_stored(table, wanted, stored).where(differs(table))
    changed = joined.select(*table.names, stored_day).persist()
    try:
        found = changed.agg(
            F.count(F.lit(1)).alias("rows"),
            F.count("_stored_day").alias("others"),
            F.array_union(F.collect_set("_stored_day"), F.collect_set("date")).alias("days"),
        ).first()
        assert found is not None  # one row, of all
        if found["rows"]:
            rows = changed.coalesce(1) if found["rows"] <= ROWS_OF_A_FILE else changed
            _merge(spark, path, table, rows, found["days"], replaces=found["others"] > 0)
        return int(found["rows"])
    finally:
        changed.unpersist()


def with_stored(table: Table, wanted: DataFrame, stored: DataFrame) -> DataFrame:
    """Each wanted row, and in `_stored` the one that is stored; null for none."""
    before = stored.select(*table.key, F.struct(*table.names).alias("_stored"))
    return wanted.join(before, list(table.key), "left")


def differs(table: Table) -> Column:
    """Whether a row of `with_stored` is not stored as it is wanted."""
    return ~F.struct(*table.names).eqNullSafe(F.col("_stored"))


def _merge(
    spark: SparkSession,
    path: str,
    table: Table,
    changed: DataFrame,
    days: list[object],
    *,
    replaces: bool,
) -> None:
    """`days`: of the rows, and of those that are replaced; files of others are not opened.

    Rows that are all new are merged as well: Delta lets two appends pass, and who comes second
    here, as a backfill beside the archiver does, has to fail or to find the first one's rows.
    """
    same = " AND ".join(f"stored.`{name}` = changed.`{name}`" for name in table.key)
    listed = ", ".join(f"DATE'{day}'" for day in days) or "NULL"
    values: dict[str, str | Column] = {f"`{name}`": f"changed.`{name}`" for name in table.names}
    merge = (
        DeltaTable.forPath(spark, path)
        .alias("stored")
        .merge(changed.alias("changed"), f"stored.date IN ({listed}) AND {same}")
        .whenNotMatchedInsert(values=values)
    )
    (merge.whenMatchedUpdate(set=values) if replaces else merge).execute()
