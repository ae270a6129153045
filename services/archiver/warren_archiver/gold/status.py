"""`status_hours`, `status_days`: how long a group had which status, and how far it was behind.

A status holds from its evaluation until the group's next one, at most `most_ms`; what is left over
nobody has judged. Lag is that of the evaluations, each counting once.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import STATUS
from warren_archiver.gold.sketch import percentile, sketches
from warren_archiver.gold.units import Unit
from warren_archiver.silver.moments import once

STATUSES = ("OK", "WARN", "ERR")


def status(evaluations: DataFrame, unit: Unit, most_ms: int) -> DataFrame:
    """Each evaluation counts once, however often its event came."""
    each = once(evaluations, ("cluster", "group", "at", "position")).select(
        "cluster",
        "group",
        "position",
        "status",
        "total_lag",
        "at",
        F.unix_millis("at").alias("at_ms"),
    )
    by = ("cluster", "group", unit.column)
    of_lag = each.withColumn(unit.column, unit.beginning(F.col("at")))
    lags = of_lag.groupBy(*by).agg(
        F.count(F.lit(1)).alias("evaluations"),
        *(percentile("total_lag", share / 100).alias(f"lag_p{share}") for share in (50, 95, 99)),
        F.max("total_lag").alias("lag_max"),
    )
    found = (
        _held(each, unit, most_ms)
        .join(lags, list(by), "full")
        .join(sketches(of_lag, by, "total_lag", "lag_sketch"), list(by), "left")
    )
    counted = (*(f"{name.lower()}_ms" for name in STATUSES), "evaluations")
    none = F.lit(0).cast("bigint")
    table = STATUS[unit]
    return table.conform(
        found.withColumns(
            {
                **{name: F.coalesce(name, none) for name in counted},
                "date": F.to_date(unit.column),
            }
        )
    )


def _held(each: DataFrame, unit: Unit, most_ms: int) -> DataFrame:
    """Milliseconds of each status, by group and unit: what lasts across its end is in both."""
    in_order = Window.partitionBy("cluster", "group").orderBy("at_ms", "position")
    longest = F.col("at_ms") + most_ms
    until = F.least(F.coalesce(F.lead("at_ms").over(in_order), longest), longest)
    first = F.col("at_ms") - F.pmod("at_ms", F.lit(unit.ms))
    parts = (
        each.withColumn("until", until)
        .where("until > at_ms")
        .withColumn("begin", F.explode(F.sequence(first, F.col("until") - 1, F.lit(unit.ms))))
    )
    held = F.least("until", F.col("begin") + unit.ms) - F.greatest("at_ms", "begin")
    return (
        parts.withColumn("held", held)
        .withColumn(unit.column, F.timestamp_millis("begin"))
        .groupBy("cluster", "group", unit.column)
        .agg(
            *(
                F.sum(F.when(F.col("status") == name, F.col("held"))).alias(f"{name.lower()}_ms")
                for name in STATUSES
            )
        )
    )
