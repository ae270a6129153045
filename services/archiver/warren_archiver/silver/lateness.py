"""`lateness_minutes`: how late a group's topics were, from the measurements of freshness.

What a minute says is an extreme or the last of its measurements, so that a repeat changes nothing.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.catalogue import LATENESS_MINUTES
from warren_archiver.silver.moments import RECORD_ORDER, minute, moment


def rows(events: DataFrame) -> DataFrame:
    """From accepted events of freshness; several in a minute yet."""
    at = moment(F.greatest("measured_at", F.lit(0)))
    single = events.where(~F.col("deleted")).select(
        "*", F.explode("topics").alias("topic", "columns")
    )
    known = F.filter("columns.freshness_ms", lambda late: late.isNotNull())
    lost = F.filter("columns.lost_records", lambda count: count.isNotNull())
    rates = F.filter("columns.produce_rate", lambda each: each.isNotNull())
    frame = single.withColumns(
        {
            "at": at,
            "minute": minute(at),
            "late_ms": F.array_max(known),
            "late_max_ms": F.array_max(known),
            "unknown_partitions": F.size("columns.partition") - F.size(known),
            "lost_records": F.aggregate(lost, F.lit(0).cast("bigint"), F.try_add),
            "time_to_loss_ms": F.array_min("columns.time_to_loss_ms"),
            "produce_rate": F.when(
                F.size(rates) > 0, F.aggregate(rates, F.lit(0.0), lambda sum_, each: sum_ + each)
            ),
            "date": F.to_date(at),
        }
    )
    return LATENESS_MINUTES.conform(frame)


def fold(lateness: DataFrame) -> DataFrame:
    """Each minute once: the last of its measurements, and the greatest lateness in it."""
    order = F.struct("at", *RECORD_ORDER)
    minutes = lateness.groupBy("cluster", "group", "topic", "minute").agg(
        F.max_by(F.struct(*LATENESS_MINUTES.names), order).alias("last"),
        F.max("late_max_ms").alias("greatest"),
    )
    return LATENESS_MINUTES.conform(
        minutes.select("last.*", "greatest").withColumn("late_max_ms", F.col("greatest"))
    )
