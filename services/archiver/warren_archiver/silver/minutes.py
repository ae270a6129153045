"""Minutes: of partitions, of groups and of topics. Every minute by itself, but for the log ends
before it that a topic's growth is measured from.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.catalogue import (
    GROUP_MINUTES,
    LOG_ENDS,
    PARTITION_MINUTES,
    TOPIC_MINUTES,
)
from warren_archiver.silver.moments import RECORD_ORDER, SINGLE_MS, elapsed_ms, minute, moment

_MOVES = ("produced", "consumed", "rewound")
_LAST = ("committed", "log_start", "log_end", "lag")


def partition_minutes(positions: DataFrame) -> DataFrame:
    """Of whole minutes of `positions`."""
    order = F.struct("at", "position", *RECORD_ORDER)
    found = (
        positions.where(~F.col("repeated"))
        .groupBy("cluster", "group", "topic", "partition", minute(F.col("at")).alias("minute"))
        .agg(
            F.count(F.lit(1)).alias("observations"),
            F.try_sum("commits").alias("commits"),
            F.max_by(F.struct(*_LAST), order).alias("last"),
            F.min("lag").alias("lag_min"),
            F.max("lag").alias("lag_max"),
            *(F.try_sum(name).alias(name) for name in _MOVES),
        )
    )
    last = {name: F.col(f"last.{name}") for name in _LAST}
    return PARTITION_MINUTES.conform(found.withColumns({**last, "date": F.to_date("minute")}))


def group_minutes(partitions: DataFrame) -> DataFrame:
    """Of whole minutes of `partition_minutes`."""
    found = partitions.groupBy("cluster", "group", "minute").agg(
        F.count_distinct("topic").alias("topics"),
        F.count(F.lit(1)).alias("partitions"),
        F.try_sum("commits").alias("commits"),
        F.try_sum("lag").alias("lag"),
        F.max("lag_max").alias("lag_max"),
        *(F.try_sum(name).alias(name) for name in _MOVES),
    )
    return GROUP_MINUTES.conform(found.withColumn("date", F.to_date("minute")))


def log_end_rows(events: DataFrame) -> DataFrame:
    """Rows of `log_ends` from accepted events; several in a minute yet."""
    at = moment(F.greatest("observed_at", F.lit(0)))
    of_minute = events.where(~F.col("deleted")).withColumns(
        {
            "at": at,
            "minute": minute(at),
            "log_ends": F.array_sort(F.map_entries("log_ends")),
        }
    )
    return LOG_ENDS.conform(of_minute.withColumn("date", F.to_date("minute")))


def fold_log_ends(log_ends: DataFrame) -> DataFrame:
    """The last of each minute."""
    order = F.struct("at", *RECORD_ORDER)
    last = log_ends.groupBy("cluster", "minute").agg(
        F.max_by(F.struct(*LOG_ENDS.names), order).alias("last")
    )
    return LOG_ENDS.conform(last.select("last.*"))


def topic_minutes(log_ends: DataFrame) -> DataFrame:
    """From rows of `log_ends`, each minute once; the first of a topic has nothing before it."""
    single = log_ends.select("cluster", "minute", "at", F.inline("log_ends"))
    in_order = Window.partitionBy("cluster", "topic").orderBy("minute")
    before = F.lag(F.struct("at", "ends")).over(in_order)
    frame = single.withColumn("before", before)
    elapsed = elapsed_ms(F.col("before.at"), F.col("at"))
    near = elapsed <= SINGLE_MS
    grown = F.zip_with("ends", "before.ends", _grown)
    return TOPIC_MINUTES.conform(
        frame.withColumns(
            {
                "partitions": F.size(F.filter("ends", lambda end: end >= 0)),
                "log_end": _sum(F.filter("ends", lambda end: end >= 0)),
                "produced": F.when(near, _sum(grown)),
                "elapsed_ms": F.when(near, elapsed),
                "date": F.to_date("minute"),
            }
        )
    )


def _grown(end: Column, before: Column) -> Column:
    """A partition that was not there before has all that it has since."""
    grown = F.when(before.isNull(), end).when(before >= 0, F.try_subtract(end, before))
    return F.when((end >= 0) & (grown >= 0), grown).otherwise(F.lit(0).cast("bigint"))


def _sum(numbers: Column) -> Column:
    return F.aggregate(numbers, F.lit(0).cast("bigint"), F.try_add)
