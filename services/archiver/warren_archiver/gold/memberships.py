"""`membership_hours`, `membership_days`: rebalances, who came and went, idle members and skew."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import MEMBERSHIP
from warren_archiver.gold.units import Unit


def memberships(changes: DataFrame, unit: Unit) -> DataFrame:
    """Of `membership_changes`. A unit in which nothing was told has no row."""
    told = changes.withColumn("is_rebalance", _is_rebalance())
    found = told.groupBy("cluster", "group", unit.beginning(F.col("at")).alias(unit.column)).agg(
        F.count(F.when(F.col("is_rebalance"), 1)).alias("rebalances"),
        F.sum(F.size("joined")).alias("joined"),
        F.sum(F.size("left")).alias("left"),
        F.max(F.size("members")).alias("members_max"),
        F.min(F.size("members")).alias("members_min"),
        F.max("idle_members").alias("idle_members_max"),
        F.max("unowned_partitions").alias("unowned_partitions_max"),
        F.max("assignment_skew").alias("assignment_skew_max"),
    )
    return MEMBERSHIP[unit].conform(found.withColumn("date", F.to_date(unit.column)))


def _is_rebalance() -> Column:
    """A generation other than the one that was told before, that day or the day before. Where none
    was, it is one if somebody came or went with it."""
    of_group = Window.partitionBy("cluster", "group").orderBy("at", "position")
    before, at_before = F.lag("generation").over(of_group), F.lag("at").over(of_group)
    is_known = (before >= 0) & (F.datediff("at", at_before) <= 1)
    moved = (F.size("joined") > 0) | (F.size("left") > 0)
    is_new = F.when(is_known, F.col("generation") != before).otherwise(
        F.col("previous_state").isNotNull() & moved
    )
    return ~F.col("deleted") & (F.col("generation") >= 0) & is_new
