"""What new rows touch: which rows of a table have to be computed anew, and no others."""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention


def ranges(rows: DataFrame, by: tuple[str, ...], at: str) -> DataFrame:
    """`by`, `first` and `last`: from when to when there are rows, for each day by itself, so that
    one that is dated far away does not make all between touched.
    """
    day = F.to_date(at).alias("day")
    return rows.groupBy(*by, day).agg(F.min(at).alias("first"), F.max(at).alias("last")).drop("day")


def widened(found: DataFrame, before_ms: int, after_ms: int) -> DataFrame:
    """The ranges with so much more at both sides."""
    return found.withColumns(
        {
            "first": F.col("first") - _interval(before_ms),
            "last": F.col("last") + _interval(after_ms),
        }
    )


def to_whole_minutes(found: DataFrame) -> DataFrame:
    """The ranges from the beginning of their first minute to the end of their last."""
    end = F.date_trunc("minute", "last") + F.expr("INTERVAL '59.999999' SECONDS")
    return found.withColumns({"first": F.date_trunc("minute", "first"), "last": end})


def days(found: DataFrame) -> list[date]:
    """All that the ranges reach into."""
    each = F.explode(F.sequence(F.to_date("first"), F.to_date("last")))
    return sorted(row["day"] for row in found.select(each.alias("day")).distinct().collect())


def within(rows: DataFrame, found: DataFrame, by: tuple[str, ...], at: str) -> DataFrame:
    """Rows in the ranges of what they belong to; `at` within the first and the last, inclusive."""
    held = [F.col(f"rows.{name}") == F.col(f"found.{name}") for name in by]
    moment = F.col(f"rows.{at}").between(F.col("found.first"), F.col("found.last"))
    return rows.alias("rows").join(F.broadcast(found.alias("found")), [*held, moment], "left_semi")


def of_same(rows: DataFrame, new: DataFrame, by: tuple[str, ...]) -> DataFrame:
    """Rows that belong to what new ones belong to."""
    return rows.join(F.broadcast(new.select(*by).distinct()), list(by), "left_semi")


def _interval(milliseconds: int) -> Column:
    return F.expr(f"INTERVAL {milliseconds // 1000} SECONDS")
