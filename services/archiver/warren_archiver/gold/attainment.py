"""`objective_hours`, `objective_days`, `error_budgets`: in how many minutes limits were kept.

A minute breaks a limit by what was known last in it. A minute of which nothing is known counts as
if the limit was kept, as for burn rates that people are told of.
"""

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import DoubleType, StringType, StructField, StructType
from warren.settings import ObjectiveSettings
from warren_core.objectives.limits import ObjectiveBook

from warren_archiver.gold.catalogue import ERROR_BUDGETS, OBJECTIVE
from warren_archiver.gold.units import Unit

BUDGET_DAYS = 30
_VALUES = {
    "max_freshness": F.max,
    "max_lag": F.try_sum,
    "min_produce_rate": F.try_sum,
    "min_time_to_loss": F.min,
}
_LIMITS = StructType(
    [
        *(StructField(name, StringType()) for name in ("cluster", "group", "topic")),
        *(StructField(name, StringType()) for name in ("objective", "limit")),
        StructField("wanted", DoubleType()),
        StructField("target", DoubleType()),
    ]
)


def limits_of(
    spark: SparkSession,
    topics: Iterable[tuple[str, str, str]],
    objectives: Sequence[ObjectiveSettings],
) -> DataFrame:
    """What is asked of each cluster, group and topic: one row for each limit that covers it. The
    objective that every group has is left out: it asks for no share of time."""
    book = ObjectiveBook(objectives)
    targets = {each.name: each.target for each in objectives}
    rows = [
        (cluster, group, topic, limit.objective, limit.name, float(limit.wanted), target)
        for cluster, group, topic in topics
        for limit in book.limits_for(cluster, group)
        if limit.name in _VALUES and limit.objective in targets and limit.covers(topic)
        for target in [targets[limit.objective]]
    ]
    return spark.createDataFrame(rows, _LIMITS)


def attainment(
    partition_minutes: DataFrame, lateness_minutes: DataFrame, limits: DataFrame, unit: Unit
) -> DataFrame:
    """`limits` as `limits_of` makes them."""
    of_topic = ("cluster", "group", "topic", "minute")
    lags = partition_minutes.groupBy(*of_topic).agg(F.try_sum("lag").alias("max_lag"))
    known = lags.join(
        lateness_minutes.select(
            *of_topic,
            F.col("late_ms").alias("max_freshness"),
            F.col("produce_rate").alias("min_produce_rate"),
            F.col("time_to_loss_ms").alias("min_time_to_loss"),
        ),
        list(of_topic),
        "full",
    )
    by = ("cluster", "group", "objective", "limit", "wanted", "target", "minute")
    chain = F.when(F.lit(False), F.lit(False))
    for name in _VALUES:
        beyond = (
            F.col(name) > F.col("wanted")
            if name.startswith("max")
            else F.col(name) < F.col("wanted")
        )
        chain = chain.when(F.col("limit") == name, beyond)
    minutes = (
        known.join(F.broadcast(limits), ["cluster", "group", "topic"])
        .groupBy(*by)
        .agg(*(function(name).alias(name) for name, function in _VALUES.items()))
        .withColumn("broken", F.coalesce(chain, F.lit(False)))
    )
    found = minutes.groupBy(*by[:-1], unit.beginning(F.col("minute")).alias(unit.column)).agg(
        F.count(F.lit(1)).alias("minutes"), F.count(F.when(F.col("broken"), 1)).alias("broken")
    )
    return OBJECTIVE[unit].conform(
        found.withColumns(
            {
                "attainment": 1 - F.col("broken") / F.col("minutes"),
                "burn_rate": F.col("broken") / F.col("minutes") / (1 - F.col("target")),
                "date": F.to_date(unit.column),
            }
        )
    )


def error_budgets(days: DataFrame) -> DataFrame:
    """Of `objective_days`: what is left of what a target allows in 30 days, each day its own."""
    of_limit = ("cluster", "group", "objective", "limit")
    number = F.datediff("day", F.lit("1970-01-01"))
    last = Window.partitionBy(*of_limit).orderBy("number").rangeBetween(-(BUDGET_DAYS - 1), 0)
    allowed = F.col("minutes_30d") * (1 - F.col("target"))
    return ERROR_BUDGETS.conform(
        days.where(F.col("target").isNotNull())
        .withColumn("number", number)
        .withColumns(
            {
                "minutes_30d": F.sum("minutes").over(last),
                "broken_30d": F.sum("broken").over(last),
            }
        )
        .withColumn("allowed_minutes", allowed)
        .withColumn("budget_left", 1 - F.col("broken_30d") / F.col("allowed_minutes"))
        .withColumn("attainment_30d", 1 - F.col("broken_30d") / F.col("minutes_30d"))
    )
