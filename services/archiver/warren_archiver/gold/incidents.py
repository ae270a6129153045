"""`incident_hours`, `incident_days`: of the incidents that began then, how soon they were seen,
told and over, and which were noise.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import INCIDENT
from warren_archiver.gold.conventions import AGAIN_MS, SHORT_MS
from warren_archiver.gold.units import Unit
from warren_archiver.silver.moments import elapsed_ms

LOOK_BACK_MS = 3_600_000
"""So far back it is asked when a group last kept up."""


def incidents(found: DataFrame, group_minutes: DataFrame, unit: Unit) -> DataFrame:
    """`found`: rows of `incidents`, those before included, as the one before tells what flaps."""
    # Until when a group had kept up before each incident: the end of the last whole minute of the
    # hour before in which it had nothing left, or consumed what was produced.
    well = (F.col("lag") == 0) | (
        (F.col("consumed") >= F.col("produced")) & (F.col("consumed") > 0)
    )
    end = F.col("minute") + F.expr("INTERVAL 1 MINUTE")
    minutes = group_minutes.where(well).select("cluster", "group", end.alias("end"))
    opened = found.select("cluster", "group", "incident_id", "opened_at")
    since = elapsed_ms(F.col("end"), F.col("opened_at"))
    seen = with_noise(found).join(
        (
            opened.join(minutes, ["cluster", "group"])
            .where((since >= 0) & (since <= LOOK_BACK_MS))
            .groupBy("incident_id")
            .agg(F.max("end").alias("kept_up_until"))
        ),
        "incident_id",
        "left",
    )
    seen = seen.withColumn("detect_ms", elapsed_ms(F.col("kept_up_until"), F.col("opened_at")))
    seen = seen.withColumn("tell_ms", elapsed_ms(F.col("opened_at"), F.col("told_at")))
    counted = seen.groupBy(
        "cluster", "group", unit.beginning(F.col("opened_at")).alias(unit.column)
    ).agg(
        F.count(F.lit(1)).alias("opened"),
        F.count(F.when(F.col("worst") == "ERR", 1)).alias("errors"),
        F.count("closed_at").alias("closed"),
        F.count(F.when(F.col("short"), 1)).alias("short"),
        F.count(F.when(F.col("flapped"), 1)).alias("flapped"),
        F.count("told_at").alias("told"),
        F.sum("deliveries").alias("deliveries"),
        *_mean("detect_ms", "detected", "mttd_ms"),
        *_mean("tell_ms", None, "mean_time_to_tell_ms"),
        *_mean("duration_ms", None, "mttr_ms"),
        F.max("duration_ms").alias("longest_ms"),
        F.max("peak_lag").alias("peak_lag"),
    )
    return INCIDENT[unit].conform(counted.withColumn("date", F.to_date(unit.column)))


def with_noise(found: DataFrame) -> DataFrame:
    """With `short` and `flapped`."""
    since = elapsed_ms(F.col("ended"), F.col("opened_at"))
    # `ended`: when the last one of the group that was over when the incident began ended. One that
    # still lasted, as those of objectives may, is none that came again.
    group = ("cluster", "group")
    nobody, never = F.lit(None).cast("string"), F.lit(None).cast("timestamp")
    openings = found.select(
        *group, "incident_id", F.col("opened_at").alias("turn"), never.alias("end")
    )
    over = found.where(F.col("closed_at") > F.col("opened_at"))
    ends = over.select(
        *group,
        nobody.alias("incident_id"),
        F.col("closed_at").alias("turn"),
        F.col("closed_at").alias("end"),
    )
    so_far = (
        Window.partitionBy(*group)
        .orderBy("turn", F.col("end").asc_nulls_last())
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    turns = openings.union(ends).withColumn("ended", F.max("end").over(so_far))
    return found.join(
        turns.where(F.col("incident_id").isNotNull()).select("incident_id", "ended"),
        "incident_id",
        "left",
    ).withColumns(
        {
            "short": F.coalesce(F.col("duration_ms") <= SHORT_MS, F.lit(False)),
            "flapped": F.coalesce(since <= AGAIN_MS, F.lit(False)),
        }
    )


def _mean(value: str, count: str | None, name: str) -> list[Column]:
    mean = F.round(F.avg(value)).cast("bigint").alias(name)
    return [mean] if count is None else [F.count(value).alias(count), mean]
