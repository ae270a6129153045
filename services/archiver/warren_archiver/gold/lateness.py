"""`lateness_hours`, `lateness_days`: how late groups were, from the minutes where it is known."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import LATENESS
from warren_archiver.gold.sketch import percentile, sketches
from warren_archiver.gold.units import Unit


def lateness(minutes: DataFrame, unit: Unit) -> DataFrame:
    """Of `lateness_minutes`. A group is as late as its latest topic."""
    of_groups = (
        minutes.groupBy("cluster", "group", "minute")
        .agg(
            F.max("late_ms").alias("late_ms"),
            F.max("late_max_ms").alias("late_max_ms"),
            F.min("time_to_loss_ms").alias("time_to_loss_ms"),
            F.try_sum("lost_records").alias("lost_records"),
        )
        .withColumn(unit.column, unit.beginning(F.col("minute")))
    )
    by = ("cluster", "group", unit.column)
    found = of_groups.groupBy(*by).agg(
        F.count(F.lit(1)).alias("minutes"),
        F.count("late_ms").alias("known_minutes"),
        *(percentile("late_ms", share / 100).alias(f"late_p{share}_ms") for share in (50, 95, 99)),
        F.max("late_max_ms").alias("late_max_ms"),
        F.min("time_to_loss_ms").alias("time_to_loss_ms"),
        F.max_by("time_to_loss_ms", "minute").alias("time_to_loss_end_ms"),
        F.max("lost_records").alias("lost_records"),
    )
    sketched = sketches(of_groups, by, "late_ms", "late_sketch")
    return LATENESS[unit].conform(
        found.join(sketched, list(by), "left").withColumn("date", F.to_date(unit.column))
    )
