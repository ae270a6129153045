"""`rate_hours`, `rate_days`: what was produced and consumed, and how fast a group can go.

How fast is seen only while it is behind: of five minutes in a row at whose beginnings there was at
least as much left as was consumed in them.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import RATE
from warren_archiver.gold.units import Unit

MINUTES = 5
"""In a row: a minute alone may hold what was fetched before it."""
LEAST_OF_AN_HOUR = 30
"""Minutes of which it is known: fewer of them are no hour that could be the busiest."""
_SPANS = ("minutes", "produced_minutes", "consumed_minutes", "behind_minutes")
_MOVES = ("produced", "consumed", "rewound")


def rates(minutes: DataFrame, unit: Unit) -> DataFrame:
    """Of `group_minutes`."""
    # `behind`: whether the minute began with as much left as was consumed in it. `pace`: records a
    # second over the five minutes that it ends, when it was so in all of them.
    of_group = Window.partitionBy("cluster", "group").orderBy("second")
    before = F.when(
        F.lag("second").over(of_group) == F.col("second") - 60, F.lag("lag").over(of_group)
    )
    last = of_group.rangeBetween(-60 * (MINUTES - 1), 0)
    number = F.sum(F.when(F.col("behind"), 1)).over(last)
    hours = (
        (
            minutes.withColumn("second", F.unix_seconds("minute"))
            .withColumn(
                "behind", F.coalesce((before > 0) & (before >= F.col("consumed")), F.lit(False))
            )
            .withColumn(
                "pace",
                F.when(number == MINUTES, F.try_sum("consumed").over(last) / (60.0 * MINUTES)),
            )
        )
        .groupBy("cluster", "group", F.date_trunc("hour", "minute").alias("hour"))
        .agg(
            F.count(F.lit(1)).alias("minutes"),
            F.count("produced").alias("produced_minutes"),
            F.count("consumed").alias("consumed_minutes"),
            *(F.try_sum(name).alias(name) for name in _MOVES),
            (F.max("produced") / 60).alias("produce_peak"),
            (F.max("consumed") / 60).alias("consume_peak"),
            F.when(
                F.count("produced") >= LEAST_OF_AN_HOUR,
                F.try_sum("produced") / (60 * F.count("produced")),
            ).alias("busiest_hour_rate"),
            F.count(F.when(F.col("behind"), 1)).alias("behind_minutes"),
            F.max("pace").alias("pace_behind"),
            F.max_by("lag", "minute").alias("lag_end"),
            F.max("lag").alias("lag_max"),
            F.max("partitions").alias("partitions"),
        )
    )
    found = hours if unit is Unit.HOUR else _days(hours)
    return RATE[unit].conform(
        found.withColumns(
            {
                "produce_rate": _rate("produced"),
                "consume_rate": _rate("consumed"),
                "date": F.to_date(unit.column),
            }
        )
    )


def _rate(name: str) -> Column:
    """Records a second of the minutes of which that is known."""
    return F.try_divide(F.col(name), F.col(f"{name}_minutes") * 60)


def _days(hours: DataFrame) -> DataFrame:
    def greatest(*names: str) -> list[Column]:
        return [F.max(name).alias(name) for name in names]

    return hours.groupBy("cluster", "group", F.date_trunc("day", "hour").alias("day")).agg(
        *(F.try_sum(name).alias(name) for name in (*_SPANS, *_MOVES)),
        *greatest("produce_peak", "consume_peak", "busiest_hour_rate", "pace_behind", "lag_max"),
        *greatest("partitions"),
        F.max_by("lag_end", "hour").alias("lag_end"),
    )
