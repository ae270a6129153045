"""How each gold table follows from others: which it is made of, and which of its days a change of
theirs can change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.settings import Settings

from warren_archiver.gold import catalogue as gold
from warren_archiver.gold.attainment import BUDGET_DAYS, attainment, error_budgets, limits_of
from warren_archiver.gold.capacity import DAYS as CAPACITY_DAYS
from warren_archiver.gold.capacity import capacity
from warren_archiver.gold.catalogue import ALERT, LATENESS, MEMBERSHIP, STATUS
from warren_archiver.gold.conventions import GAP_HEARTBEATS
from warren_archiver.gold.incidents import incidents, with_noise
from warren_archiver.gold.rates import rates
from warren_archiver.gold.sketch import percentile, sketches
from warren_archiver.gold.units import Unit
from warren_archiver.lake.table import Table
from warren_archiver.silver import catalogue as silver
from warren_archiver.silver.moments import once

STATUSES = ("OK", "WARN", "ERR")


def status(evaluations: DataFrame, unit: Unit, most_ms: int) -> DataFrame:
    """Each evaluation counts once, however often its event came."""
    each = once(evaluations, ("cluster", "group", "at", "position")).select(
        "cluster",
        "group",
        "position",
        "status",
        "total_lag",
        "at",
        F.unix_millis("at").alias("at_ms"),
    )
    by = ("cluster", "group", unit.column)
    of_lag = each.withColumn(unit.column, unit.beginning(F.col("at")))
    lags = of_lag.groupBy(*by).agg(
        F.count(F.lit(1)).alias("evaluations"),
        *(percentile("total_lag", share / 100).alias(f"lag_p{share}") for share in (50, 95, 99)),
        F.max("total_lag").alias("lag_max"),
    )
    # Milliseconds of each status, by group and unit: what lasts across its end is in both.
    in_order = Window.partitionBy("cluster", "group").orderBy("at_ms", "position")
    longest = F.col("at_ms") + most_ms
    until = F.least(F.coalesce(F.lead("at_ms").over(in_order), longest), longest)
    first = F.col("at_ms") - F.pmod("at_ms", F.lit(unit.ms))
    parts = (
        each.withColumn("until", until)
        .where("until > at_ms")
        .withColumn("begin", F.explode(F.sequence(first, F.col("until") - 1, F.lit(unit.ms))))
    )
    held = F.least("until", F.col("begin") + unit.ms) - F.greatest("at_ms", "begin")
    found = (
        (
            parts.withColumn("held", held)
            .withColumn(unit.column, F.timestamp_millis("begin"))
            .groupBy("cluster", "group", unit.column)
            .agg(
                *(
                    F.sum(F.when(F.col("status") == name, F.col("held"))).alias(
                        f"{name.lower()}_ms"
                    )
                    for name in STATUSES
                )
            )
        )
        .join(lags, list(by), "full")
        .join(sketches(of_lag, by, "total_lag", "lag_sketch"), list(by), "left")
    )
    counted = (*(f"{name.lower()}_ms" for name in STATUSES), "evaluations")
    none = F.lit(0).cast("bigint")
    table = STATUS[unit]
    return table.conform(
        found.withColumns(
            {
                **{name: F.coalesce(name, none) for name in counted},
                "date": F.to_date(unit.column),
            }
        )
    )


def memberships(changes: DataFrame, unit: Unit) -> DataFrame:
    """Of `membership_changes`. A unit in which nothing was told has no row."""
    # A generation other than the one that was told before, that day or the day before. Where none
    # was, it is one if somebody came or went with it.
    of_group = Window.partitionBy("cluster", "group").orderBy("at", "position")
    before, at_before = F.lag("generation").over(of_group), F.lag("at").over(of_group)
    is_known = (before >= 0) & (F.datediff("at", at_before) <= 1)
    moved = (F.size("joined") > 0) | (F.size("left") > 0)
    is_new = F.when(is_known, F.col("generation") != before).otherwise(
        F.col("previous_state").isNotNull() & moved
    )
    told = changes.withColumn(
        "is_rebalance", (~F.col("deleted") & (F.col("generation") >= 0) & is_new)
    )
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


def lateness(minutes: DataFrame, unit: Unit) -> DataFrame:
    """Of `lateness_minutes`. A group is as late as its latest topic."""
    of_groups = (
        minutes.groupBy("cluster", "group", "minute")
        .agg(
            F.max("late_ms").alias("late_ms"),
            F.max("late_max_ms").alias("late_max_ms"),
            F.min("time_to_loss_ms").alias("time_to_loss_ms"),
            F.try_sum("lost_records").alias("lost_records"),
        )
        .withColumn(unit.column, unit.beginning(F.col("minute")))
    )
    by = ("cluster", "group", unit.column)
    found = of_groups.groupBy(*by).agg(
        F.count(F.lit(1)).alias("minutes"),
        F.count("late_ms").alias("known_minutes"),
        *(percentile("late_ms", share / 100).alias(f"late_p{share}_ms") for share in (50, 95, 99)),
        F.max("late_max_ms").alias("late_max_ms"),
        F.min("time_to_loss_ms").alias("time_to_loss_ms"),
        F.max_by("time_to_loss_ms", "minute").alias("time_to_loss_end_ms"),
        F.max("lost_records").alias("lost_records"),
    )
    sketched = sketches(of_groups, by, "late_ms", "late_sketch")
    return LATENESS[unit].conform(
        found.join(sketched, list(by), "left").withColumn("date", F.to_date(unit.column))
    )


def alerts(notifications: DataFrame, incidents: DataFrame, unit: Unit) -> DataFrame:
    """Attempts of a unit; what is known of their incidents is of whenever that was known. Noise is
    what began that day or the day before: what has lasted for longer is none, whatever it began as.
    """
    noise = with_noise(incidents).select("incident_id", "opened_at", "short", "flapped")
    began_late = F.col("opened_at") >= Unit.DAY.beginning(F.col("at")) - F.expr("INTERVAL 1 DAY")
    delivered = F.col("outcome") == "delivered"
    about = F.when(delivered, F.col("incident_id"))
    found = (
        notifications.join(noise, "incident_id", "left")
        .groupBy("route", "channel", unit.beginning(F.col("at")).alias(unit.column))
        .agg(
            F.count(F.when(delivered, 1)).alias("deliveries"),
            F.count(F.when(F.col("outcome") == "failed", 1)).alias("failures"),
            F.count(F.when(F.col("outcome").isin("refused", "given_up"), 1)).alias("undelivered"),
            F.count_distinct(F.when(delivered, F.struct("cluster", "group"))).alias("groups"),
            F.count_distinct(about).alias("incidents"),
            F.count_distinct(F.when(F.col("short") & began_late, about)).alias("short"),
            F.count_distinct(F.when(F.col("flapped") & began_late, about)).alias("flapped"),
            F.round(F.avg(F.when(delivered, F.col("duration_ms"))))
            .cast("bigint")
            .alias("mean_duration_ms"),
        )
    )
    return ALERT[unit].conform(found.withColumn("date", F.to_date(unit.column)))


Frames = Mapping[str, DataFrame]
"""Tables' rows, by name."""


def most_ms(settings: Settings) -> int:
    """For how long an evaluation says what a group's status is."""
    return round(settings.collector.heartbeat * GAP_HEARTBEATS * 1000)


@dataclass(frozen=True, slots=True)
class Source:
    """A table that another one is made of, day by day."""

    table: Table
    before: int = 1
    """So many days before a day are read to make it."""
    after: int | None = 1
    """So many days after one that has changed may change; None: all after it on which there is
    something of the same groups."""
    ended: str | None = None
    """Of days before those, rows are read that ended as late as they, by this column."""


@dataclass(frozen=True, slots=True)
class Step:
    """Makes a table of others: `make` is a pure function of the settings and of their rows, in the
    order of `sources`."""

    table: Table
    sources: tuple[Source, ...]
    make: Callable[..., DataFrame]

    def made(self, frames: Frames, settings: Settings) -> DataFrame:
        return self.make(settings, *(frames[source.table.name] for source in self.sources))


def _objectives(
    settings: Settings, of_partitions: DataFrame, of_topics: DataFrame, unit: Unit
) -> DataFrame:
    asked = settings.objectives
    if not asked:
        return of_topics.sparkSession.createDataFrame([], gold.OBJECTIVE[unit].schema)
    one, other = (frame.select("cluster", "group", "topic") for frame in (of_partitions, of_topics))
    every = one.union(other).distinct()
    known = [tuple(row) for row in every.collect()]
    limits = limits_of(every.sparkSession, known, asked)
    return attainment(of_partitions, of_topics, limits, unit)


def _steps_of(unit: Unit) -> tuple[Step, ...]:
    of_minutes = Source(silver.PARTITION_MINUTES, 0, 0), Source(silver.LATENESS_MINUTES, 0, 0)
    return (
        Step(
            gold.STATUS[unit],
            (Source(silver.EVALUATIONS),),
            lambda settings, rows: status(rows, unit, most_ms(settings)),
        ),
        Step(gold.RATE[unit], (Source(silver.GROUP_MINUTES),), lambda _, rows: rates(rows, unit)),
        Step(gold.LATENESS[unit], of_minutes[1:], lambda _, rows: lateness(rows, unit)),
        Step(
            gold.INCIDENT[unit],
            (Source(silver.INCIDENTS, 1, None, "closed_at"), Source(silver.GROUP_MINUTES)),
            lambda _, found, minutes: incidents(found, minutes, unit),
        ),
        Step(
            gold.ALERT[unit],
            (
                Source(silver.NOTIFICATIONS, 0, 0),
                Source(silver.INCIDENTS, 2, None, "closed_at"),
            ),
            lambda _, attempts, about: alerts(attempts, about, unit),
        ),
        Step(
            gold.MEMBERSHIP[unit],
            (Source(silver.MEMBERSHIP_CHANGES),),
            lambda _, rows: memberships(rows, unit),
        ),
        Step(
            gold.OBJECTIVE[unit],
            of_minutes,
            lambda settings, one, other: _objectives(settings, one, other, unit),
        ),
    )


STEPS: tuple[Step, ...] = (
    *_steps_of(Unit.HOUR),
    *_steps_of(Unit.DAY),
    Step(
        gold.ERROR_BUDGETS,
        (Source(gold.OBJECTIVE[Unit.DAY], BUDGET_DAYS - 1, BUDGET_DAYS - 1),),
        lambda _, days: error_budgets(days),
    ),
    Step(
        gold.CAPACITY,
        (
            Source(gold.RATE[Unit.DAY], CAPACITY_DAYS - 1, CAPACITY_DAYS - 1),
            Source(gold.LATENESS[Unit.HOUR], 0, 0),
        ),
        lambda _, days, hours: capacity(days, hours),
    ),
)
"""In order: what is made of gold comes after that."""


def whole(frames: Frames, settings: Settings) -> dict[str, DataFrame]:
    """All tables from all rows at once: what they have to be, however they came about. `frames`:
    the tables of silver."""
    made = dict(frames)
    for step in STEPS:
        made[step.table.name] = step.made(made, settings)
    return {step.table.name: made[step.table.name] for step in STEPS}
