"""`capacity`: when what is produced will be more than a group has shown that it can consume.

The trend is that of Theil and Sen: the median of the slopes between all pairs of days, which a
third of odd days does not bend; its interval is theirs too, by Kendall's normal approximation.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import CAPACITY

DAYS = 28
LEAST_DAYS = 3
WHOLE_SHARE = 0.75
_QUANTILE = 1.6449  # of the normal distribution: an interval of 90 %
FAR_DAYS = 3650.0
_GROUP_DAY = ("cluster", "group", "day")


def capacity(rate_days: DataFrame, lateness_hours: DataFrame) -> DataFrame:
    """For each day of `rate_days`, from the 28 days up to it."""
    days = rate_days.select(
        "cluster",
        "group",
        "day",
        F.datediff("day", F.lit("1970-01-01")).alias("number"),
        "minutes",
        "busiest_hour_rate",
        "produce_peak",
        "consume_peak",
        "pace_behind",
    )
    # Each day of a group with the rows of the 28 up to it, `age` days before.
    of = days.drop("day").withColumnRenamed("number", "at")
    each = days.select("cluster", "group", "day", "number")
    age = F.col("number") - F.col("at")
    of_day = (
        each.join(of, ["cluster", "group"])
        .withColumn("age", age)
        .where((F.col("age") >= 0) & (F.col("age") < DAYS))
    )
    shown = of_day.groupBy(*_GROUP_DAY).agg(
        F.max("pace_behind").alias("capacity"),
        F.max("busiest_hour_rate").alias("busiest_hour_rate_max"),
        F.max("produce_peak").alias("produce_peak_max"),
        F.max("consume_peak").alias("consume_peak_max"),
    )
    # Without days that nothing is known of, and without the last one until it was observed for
    # about as long as others: its busiest hour may be to come.
    longest = F.max("minutes").over(Window.partitionBy(*_GROUP_DAY))
    is_whole = (F.col("age") > 0) | (F.col("minutes") >= WHOLE_SHARE * longest)
    is_known = F.col("busiest_hour_rate").isNotNull()
    found = (
        shown.join(
            _trends(of_day.withColumn("is_whole", is_whole).where(F.col("is_whole") & is_known)),
            list(_GROUP_DAY),
            "left",
        )
        .join(_losses(lateness_hours), list(_GROUP_DAY), "left")
        .withColumns(
            {
                "crosses_in_days": _until("slope"),
                "earliest_in_days": _until("slope_high"),
                "latest_in_days": _until("slope_low"),
            }
        )
    )
    on = {
        f"{name}_on": F.date_add(F.to_date("day"), F.ceil(f"{name}_in_days").cast("int"))
        for name in ("crosses", "earliest", "latest")
    }
    return CAPACITY.conform(found.withColumns({**on, "date": F.to_date("day")}))


def _trends(last: DataFrame) -> DataFrame:
    """Level at the day, slope a day, its interval; null with too few days."""
    pair = F.col("one.age") > F.col("other.age")
    same = [F.col(f"one.{name}") == F.col(f"other.{name}") for name in _GROUP_DAY]
    rise = F.col("other.busiest_hour_rate") - F.col("one.busiest_hour_rate")
    slopes = (
        last.alias("one")
        .join(last.alias("other"), [*same, pair])
        .select(
            *(F.col(f"one.{name}") for name in _GROUP_DAY),
            (rise / (F.col("one.age") - F.col("other.age"))).alias("slope"),
        )
        .groupBy(*_GROUP_DAY)
        .agg(F.sort_array(F.collect_list("slope")).alias("slopes"))
    )
    counted = last.groupBy(*_GROUP_DAY).agg(F.count(F.lit(1)).alias("days"))
    ranked = slopes.join(counted, list(_GROUP_DAY)).where(F.col("days") >= LEAST_DAYS)
    n, number = F.col("days"), F.size("slopes")
    spread = F.lit(_QUANTILE) * F.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low = F.greatest(F.floor((number - spread) / 2).cast("int"), F.lit(1))
    high = F.least(F.ceil((number + spread) / 2).cast("int") + 1, number)
    sloped = ranked.select(
        *_GROUP_DAY,
        "days",
        _median(F.col("slopes")).alias("slope"),
        F.element_at("slopes", low).alias("slope_low"),
        F.element_at("slopes", high).alias("slope_high"),
    )
    level = F.col("busiest_hour_rate") + F.col("slope") * F.col("age")
    levels = (
        last.join(sloped.select(*_GROUP_DAY, "slope"), list(_GROUP_DAY))
        .withColumn("level", level)
        .groupBy(*_GROUP_DAY)
        .agg(F.median("level").alias("level"))
    )
    return sloped.join(levels, list(_GROUP_DAY))


def _median(in_order: Column) -> Column:
    half = F.size(in_order) / 2
    below = F.element_at(in_order, F.ceil(half).cast("int"))
    return (below + F.element_at(in_order, F.floor(half + 1).cast("int"))) / 2


def _until(slope: str) -> Column:
    """Days until the trend reaches what the group can do; 0 where it has; null never, or later
    than in ten years."""
    left = F.try_divide(F.col("capacity") - F.col("level"), F.col(slope))
    within = F.when((F.col(slope) > 0) & (left <= FAR_DAYS), left)
    return F.when(F.col("level") >= F.col("capacity"), F.lit(0.0)).otherwise(within)


def _losses(hours: DataFrame) -> DataFrame:
    """Days until the first record is lost if the time until then shrinks on as it did that day:
    the median of the slopes between its hours. Null where it does not shrink, or is not known."""
    known = hours.where(F.col("time_to_loss_end_ms").isNotNull()).select(
        "cluster",
        "group",
        F.date_trunc("day", "hour").alias("day"),
        F.unix_millis("hour").alias("at"),
        F.col("time_to_loss_end_ms").alias("left"),
    )
    one, other = known.alias("one"), known.alias("other")
    same = [F.col(f"one.{name}") == F.col(f"other.{name}") for name in _GROUP_DAY]
    fallen = F.try_subtract(F.col("one.left"), F.col("other.left"))
    fall = fallen / (F.col("other.at") - F.col("one.at"))
    slopes = (
        one.join(other, [*same, F.col("one.at") < F.col("other.at")])
        .select(*(F.col(f"one.{name}") for name in _GROUP_DAY), fall.alias("fall"))
        .groupBy(*_GROUP_DAY)
        .agg(F.median("fall").alias("fall"))
    )
    last = known.groupBy(*_GROUP_DAY).agg(F.max_by("left", "at").alias("left"))
    days = F.try_divide("left", F.col("fall") * 86_400_000)
    return last.join(slopes, list(_GROUP_DAY)).select(
        *_GROUP_DAY, F.when((F.col("fall") > 0) & (days <= FAR_DAYS), days).alias("days_until_loss")
    )
