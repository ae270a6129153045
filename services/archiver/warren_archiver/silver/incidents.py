"""`incidents`: one row for each, from its status changes and the deliveries about it."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.catalogue import INCIDENTS
from warren_archiver.silver.moments import RECORD_ORDER, elapsed_ms

_ENDED = ("OK", "NOTFOUND")
_TROUBLE = ("ERR", "WARN")  # the worst first
_FAILED = ("failed", "refused", "given_up")


def incidents(intervals: DataFrame, notifications: DataFrame) -> DataFrame:
    """From all rows of these incidents. What was told of one without a change is not an incident
    yet."""
    found = _from_changes(intervals).join(_told(notifications), "incident_id", "left")
    duration = elapsed_ms(F.col("opened_at"), F.col("closed_at"))
    none = F.lit(0).cast("bigint")
    return INCIDENTS.conform(
        found.withColumns(
            {
                "duration_ms": duration,
                "told": F.coalesce("told", F.array()),
                "deliveries": F.coalesce("deliveries", none),
                "failures": F.coalesce("failures", none),
                "date": F.to_date("opened_at"),
            }
        )
    )


def _from_changes(intervals: DataFrame) -> DataFrame:
    ended = F.col("status").isin(*_ENDED)
    order = F.struct("from", *RECORD_ORDER)
    end_reason = F.when(F.col("status") == "OK", "OK").otherwise(F.coalesce("reason", "status"))
    counts = [F.count(F.when(F.col("status") == s, 1)).alias(s) for s in _TROUBLE]
    return (
        intervals.groupBy("incident_id")
        .agg(
            F.min("cluster").alias("cluster"),
            F.min("group").alias("group"),
            F.min(F.coalesce("opened_at", "from")).alias("opened_at"),
            F.array_sort(
                F.collect_list(
                    F.when(ended, F.struct(order.alias("order"), end_reason.alias("reason")))
                )
            ).alias("ends"),
            F.max(F.when(~ended, order)).alias("last_trouble"),
            F.min_by("reason", F.when(~ended & F.col("reason").isNotNull(), order)).alias("reason"),
            F.max_by("cause", F.when(F.col("cause").isNotNull(), order)).alias("cause"),
            F.count(F.lit(1)).alias("changes"),
            F.max("total_lag").alias("peak_lag"),
            F.max("bad_partitions").alias("peak_bad_partitions"),
            *counts,
        )
        .withColumn("end", _first_end())
        .withColumns({"closed_at": F.col("end.order.from"), "closed_by": F.col("end.reason")})
        .withColumn("worst", F.when(F.col("ERR") > 0, "ERR").when(F.col("WARN") > 0, "WARN"))
    )


def _first_end() -> Column:
    """Whose end is told again was over at the first time."""
    after = F.filter(
        "ends",
        lambda end: F.col("last_trouble").isNull() | (end["order"] > F.col("last_trouble")),
    )
    # An end that is dated before the trouble, by a clock that was set back, is one as well.
    return F.coalesce(F.get(after, F.lit(0)), F.get("ends", F.size("ends") - 1))


def _told(notifications: DataFrame) -> DataFrame:
    delivered = F.col("outcome") == "delivered"
    to = F.when(delivered, F.struct("route", "channel"))
    return notifications.groupBy("incident_id").agg(
        F.sort_array(F.collect_set(to)).alias("told"),
        F.min(F.when(delivered, F.col("at"))).alias("told_at"),
        F.count(F.when(delivered, 1)).alias("deliveries"),
        F.count(F.when(F.col("outcome").isin(*_FAILED), 1)).alias("failures"),
    )
