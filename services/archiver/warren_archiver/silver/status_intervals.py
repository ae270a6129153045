"""`status_intervals`: status changes, each until the next one of its group."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.events import bounded
from warren_archiver.silver.catalogue import CONSEQUENCE, STATUS_INTERVALS
from warren_archiver.silver.moments import RECORD_ORDER, moment, once


def rows(events: DataFrame) -> DataFrame:
    """From accepted status changes; `until` is null yet."""
    data = events.where(~F.col("deleted")).select(
        "*", *(F.col(f"data.{name}").alias(name) for name in ("cluster", "group", "status"))
    )
    bad = F.map_filter("data.partition_counts", lambda status, _: status != "OK")
    count = F.aggregate(F.map_values(bad), F.lit(0).cast("bigint"), F.try_add)
    begins = bounded(F.col("time"))
    is_known = F.col("data.cause.name") != "unknown"
    return STATUS_INTERVALS.conform(
        data.withColumns(
            {
                "event_id": F.col("id"),
                "from": begins,
                "until": F.lit(None),
                "previous": F.col("data.previous"),
                "reason": F.col("data.reason"),
                "explanation": F.col("data.explanation"),
                "cause": F.when(is_known, F.col("data.cause.name")),
                "cause_sentence": F.when(is_known, F.col("data.cause.sentence")),
                "action": F.when(is_known, F.col("data.cause.action")),
                "also": F.when(is_known, F.transform("data.cause.also", _consequence)),
                "incident_id": F.col("data.incident_id"),
                "opened_at": moment(F.col("data.opened_at")),
                "total_lag": F.col("data.total_lag"),
                "bad_partitions": count,
                "date": F.to_date(begins),
            }
        )
    )


def _consequence(found: Column) -> Column:
    return F.struct(*(found[name].alias(name) for name in CONSEQUENCE.names))


def fold(intervals: DataFrame) -> DataFrame:
    """Each event once, as it was published first, until the next one."""
    in_order = Window.partitionBy("cluster", "group", "type").orderBy("from", *RECORD_ORDER)
    each = once(intervals, STATUS_INTERVALS.key)
    return STATUS_INTERVALS.conform(each.withColumn("until", F.lead("from").over(in_order)))
