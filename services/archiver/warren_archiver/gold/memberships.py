"""`membership_hours`, `membership_days`: rebalances, who came and went, idle members and skew."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import MEMBERSHIP
from warren_archiver.gold.units import Unit


def memberships(changes: DataFrame, unit: Unit) -> DataFrame:
    """Of `membership_changes`. A unit in which nothing was told has no row."""
    of_now = ~F.col("deleted") & (F.col("generation") >= 0)
    found = changes.groupBy("cluster", "group", unit.beginning(F.col("at")).alias(unit.column)).agg(
        F.count_distinct(F.when(of_now, F.col("generation"))).alias("rebalances"),
        F.sum(F.size("joined")).alias("joined"),
        F.sum(F.size("left")).alias("left"),
        F.max(F.size("members")).alias("members_max"),
        F.min(F.size("members")).alias("members_min"),
        F.max("idle_members").alias("idle_members_max"),
        F.max("unowned_partitions").alias("unowned_partitions_max"),
        F.max("assignment_skew").alias("assignment_skew_max"),
    )
    return MEMBERSHIP[unit].conform(found.withColumn("date", F.to_date(unit.column)))
