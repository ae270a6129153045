"""`warren report`: how long each group had which status, and how far it was behind.

Computed from the archived evaluations (`warren.lag`), for a period [start, end):

* A status holds from its evaluation until the group's next one, at most `max_gap`, clipped to the
  period. What is left over is `unknown`: nobody judged the group then. A tombstone ends the status.
* Lag figures are of the evaluations in the period, each counting once: p50 and p95 are nearest-rank
  percentiles of total_lag, so they are values that occurred.
* An evaluation that was published twice (same group, evaluated_at and position) counts once.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.contracts.topics import LAG
from warren.settings import Settings

from warren_archiver.errors import NothingArchived
from warren_archiver.lake.contract_view import accepted
from warren_archiver.lake.lake import Lake
from warren_archiver.report.period import Period

STATUSES = ("OK", "WARN", "ERR", "NOTFOUND")
SETTLE_MS = 5_000
"""The default period ends this much before the newest record, as evaluations of that time that
another evaluator publishes a little later may not be archived yet."""
GAP_HEARTBEATS = 3
"""`max_gap` in heartbeats: a silent group is judged once per heartbeat; two may be late."""
CLOCK_SKEW_MS = 86_400_000
"""How much later than its record an evaluation may be dated, for clocks that disagree."""


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group. Durations in milliseconds, lags in records."""

    cluster: str
    group: str
    status: str | None
    """At the period's end; None: unknown or gone."""
    held_ms: dict[str, int]
    """By status; statuses that did not occur have 0."""
    unknown_ms: int
    evaluations: int
    lag_p50: int
    lag_p95: int
    lag_max: int


@dataclass(frozen=True, slots=True)
class Report:
    """All groups that were judged in the period, the most troubled first."""

    period: Period
    archived_until_ms: int
    """Append time of the newest archived evaluation."""
    max_gap_ms: int
    groups: list[GroupReport]


def report(
    spark: SparkSession,
    settings: Settings,
    length_ms: int,
    until_ms: int | None = None,
    *,
    clock: Clock,
) -> Report:
    """The report on the last `length_ms` before `until_ms` (default: what is archived).

    Raises NothingArchived.
    """
    lake = Lake.at(settings.archiver.path)
    name = LAG.full_name(settings.home.topic_prefix)
    table = lake.read(spark, lake.events)
    events = None if table is None else table.where(F.col("topic") == name)
    newest = None if events is None else _newest_ms(events, clock.now_ms())
    if events is None or newest is None:
        raise NothingArchived(
            f"no evaluation has been archived in {lake.events}: run `warren archive run`"
        )
    end = newest - SETTLE_MS if until_ms is None else until_ms
    period = Period(end - length_ms, end)
    max_gap_ms = round(settings.collector.heartbeat * GAP_HEARTBEATS * 1000)
    held = _held(_evaluations(events, period, max_gap_ms), period, max_gap_ms)
    groups = [_group(row, period) for row in _by_group(held, period).collect()]
    return Report(period, newest, max_gap_ms, sorted(groups, key=_trouble))


def _newest_ms(events: DataFrame, now_ms: int) -> int | None:
    """Append time of the newest record. One dated in the future tells nothing of that."""
    past = events.where(F.col("timestamp") <= F.timestamp_millis(F.lit(now_ms)))
    row = past.agg(F.unix_millis(F.max("timestamp")).alias("newest")).first()
    return None if row is None else row["newest"]


def _evaluations(events: DataFrame, period: Period, max_gap_ms: int) -> DataFrame:
    """cluster, group, at, position, status, lag of what may hold in the period.

    A tombstone has neither status nor lag; its time is that of its record.
    """
    first_ms = period.start_ms - max_gap_ms
    day = F.to_date(F.timestamp_millis(F.lit(first_ms - CLOCK_SKEW_MS)))
    recent = events.where(F.col("date") >= day)  # other days' files are not even opened
    return (
        accepted(recent, LAG)
        .withColumn("key", F.col("kafka_key").cast("string"))
        .select(
            F.coalesce("cluster", F.substring_index("key", "|", 1)).alias("cluster"),
            F.coalesce("group", F.expr("substring(key, instr(key, '|') + 1)")).alias("group"),
            F.coalesce("evaluated_at", F.unix_millis("kafka_timestamp")).alias("at"),
            "position",
            "status",
            F.col("total_lag").alias("lag"),
        )
        .where((F.col("at") >= first_ms) & (F.col("at") < period.end_ms))
        .dropDuplicates(["cluster", "group", "at", "position"])
    )


def _held(evaluations: DataFrame, period: Period, max_gap_ms: int) -> DataFrame:
    """With `until`, up to when each status held, `held` ms of the period, and `counted_lag`."""
    end = F.lit(period.end_ms)
    next_at = F.expr("lead(at) OVER (PARTITION BY cluster, `group` ORDER BY at, position)")
    until = F.least(F.coalesce(next_at, end), F.col("at") + max_gap_ms, end)
    start = F.greatest("at", F.lit(period.start_ms))
    counted = F.col("at") >= period.start_ms
    return (
        evaluations.withColumn("until", until)
        .withColumn("held", F.greatest(F.col("until") - start, F.lit(0)))
        .withColumn("counted_lag", F.when(counted, F.col("lag")))
    )


def _by_group(held: DataFrame, period: Period) -> DataFrame:
    def percentile(share: float) -> Column:
        return F.expr(f"percentile_disc({share}) WITHIN GROUP (ORDER BY counted_lag)")

    return (
        held.groupBy("cluster", "group")
        .agg(
            *(F.sum(F.when(F.col("status") == s, F.col("held"))).alias(s) for s in STATUSES),
            F.max_by(F.when(F.col("until") == period.end_ms, F.col("status")), "at").alias("last"),
            F.count("counted_lag").alias("evaluations"),
            percentile(0.5).cast("bigint").alias("p50"),
            percentile(0.95).cast("bigint").alias("p95"),
            F.max("counted_lag").alias("most"),
        )
        .where(F.col("evaluations") > 0)
    )


def _group(row: Row, period: Period) -> GroupReport:
    held = {status: row[status] or 0 for status in STATUSES}
    return GroupReport(
        cluster=row["cluster"],
        group=row["group"],
        status=row["last"],
        held_ms=held,
        unknown_ms=period.length_ms - sum(held.values()),
        evaluations=row["evaluations"],
        lag_p50=row["p50"],
        lag_p95=row["p95"],
        lag_max=row["most"],
    )


def _trouble(group: GroupReport) -> tuple[int, int, int, str, str]:
    """Sort key: the longer in ERR, then in WARN, then the larger the lag, the earlier."""
    held = group.held_ms
    return -held["ERR"], -held["WARN"], -group.lag_max, group.cluster, group.group
