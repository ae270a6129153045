"""What else is known of a period's groups: rates, lateness, members, what is to come."""

from typing import Any

from warren.history.lake_tables import LakeTables, typed

from warren_archiver.dialect import MACROS, for_duckdb, sql
from warren_archiver.report.group_report import Budget, Key, Outlook
from warren_archiver.report.lag_sketch import SKETCH, of_sketch, percentiles
from warren_archiver.report.period import DAY_MS, Period, Split

_WHO = typed(VARCHAR="cluster group")
_LATE = typed(BIGINT="late_max_ms time_to_loss_ms")
_HOUR = _WHO | typed(TIMESTAMPTZ="hour")
_MINUTE_MS = 60_000


def rates(tables: LakeTables, parts: Split) -> dict[Key, dict[str, Any]]:
    """Records a second, produced and consumed, of the minutes in which that is known."""
    moves = _WHO | typed(BIGINT="produced consumed")
    known = typed(TIMESTAMPTZ="hour", BIGINT="minutes produced_minutes consumed_minutes")
    tables.view("rate_hours", "gold/rate_hours", parts.hours.days, moves | known)
    days = _rest_days(parts, _MINUTE_MS)  # is there a later one?
    tables.view("rate_minutes", "silver/group_minutes", days, moves | typed(TIMESTAMPTZ="minute"))
    return _by_group(tables.rows(_RATES, parts.bounds))


def lateness(tables: LakeTables, parts: Split) -> dict[Key, dict[str, Any]]:
    """How late groups were, as the freshness service measured it."""
    of_hours = _WHO | _LATE | {"hour": "TIMESTAMPTZ", "late_sketch": SKETCH}
    tables.view("late_hours", "gold/lateness_hours", parts.hours.days, of_hours)
    of_minutes = _WHO | _LATE | typed(TIMESTAMPTZ="minute", VARCHAR="topic", BIGINT="late_ms")
    tables.view("late_minutes", "silver/lateness_minutes", _rest_days(parts), of_minutes)
    return _by_group(tables.rows(_LATENESS, parts.bounds))


def losses(tables: LakeTables, period: Period) -> dict[Key, dict[str, Any]]:
    """Records that retention deleted unread: what the count of each topic grew by, minute by
    minute, so that periods add up. Gold has the count alone."""
    columns = _WHO | typed(TIMESTAMPTZ="minute", VARCHAR="topic", BIGINT="lost_records")
    days = period.widened(DAY_MS).days  # what had been lost before
    tables.view("loss_minutes", "silver/lateness_minutes", days, columns)
    bounds = {"start": period.start_ms, "end": period.end_ms}
    return _by_group(tables.rows(_LOSSES, bounds))


def memberships(tables: LakeTables, period: Period) -> dict[Key, dict[str, Any]]:
    """Rebalances, and members without a partition at the end: while a group rebalances some are."""
    columns = _WHO | typed(
        TIMESTAMPTZ="at",
        BOOLEAN="deleted",
        VARCHAR="previous_state",
        BIGINT="generation position idle_members",
    )
    columns |= {"joined": "VARCHAR[]", "left": "VARCHAR[]"}
    days = period.widened(DAY_MS).days  # of which generation it was before
    tables.view("members", "silver/membership_changes", days, columns)
    bounds = {"start": period.start_ms, "end": period.end_ms}
    return _by_group(tables.rows(_MEMBERSHIPS, bounds))


def outlooks(tables: LakeTables, period: Period) -> dict[Key, Outlook]:
    """As of the period's last day, or the newest one before that is known."""
    days = period.widened(28 * DAY_MS).days[-29:]
    rates = typed(
        BIGINT="minutes", DOUBLE="busiest_hour_rate produce_peak consume_peak pace_behind"
    )
    tables.view("rate_hours", "gold/rate_hours", days, _HOUR | rates)
    left = typed(BIGINT="time_to_loss_end_ms")
    tables.view("lateness_hours", "gold/lateness_hours", days[-2:], _HOUR | left)
    bounds = {"first": days[-2]}
    found = tables.rows(_OUTLOOKS.format(capacity=_view(tables, "capacity")), bounds)
    return {key: Outlook(**row) for key, row in _by_group(found).items()}


def budgets(tables: LakeTables, period: Period) -> list[Budget]:
    """Those of which least is left come first."""
    days = period.widened(30 * DAY_MS).days
    columns = _WHO | typed(
        VARCHAR="objective limit", TIMESTAMPTZ="day", DOUBLE="target", BIGINT="minutes broken"
    )
    tables.view("objective_days", "gold/objective_days", days, columns)
    bounds = {"first": period.widened(DAY_MS).days[0]}
    found = tables.rows(_BUDGETS.format(budgets=_view(tables, "error_budgets")), bounds)
    return [Budget(**row) for row in found]


def _view(tables: LakeTables, name: str) -> str:
    """Its text in DuckDB's words, which has the macros then."""
    tables.rows(MACROS)
    return for_duckdb(sql("gold", name, {}))


def _rest_days(parts: Split, after_ms: int = 0) -> list[Any]:
    return sorted({day for each in parts.rest for day in each.widened(0, after_ms).days})


def _by_group(rows: list[dict[str, Any]]) -> dict[Key, dict[str, Any]]:
    return {(row.pop("cluster"), row.pop("group")): row for row in rows}


_IN_HOURS = "epoch_ms(hour) >= $hours_start AND epoch_ms(hour) < $hours_end"
_IN_REST = "EXISTS (FROM rest WHERE epoch_ms(minute) >= start_ms AND epoch_ms(minute) < end_ms)"
# The newest minute of all has not ended for silver: nobody knows how much of it that is.
_RATES = f"""
WITH every AS (
  SELECT cluster, "group", produced, consumed, coalesce(produced_minutes, minutes) AS produced_for,
    coalesce(consumed_minutes, minutes) AS consumed_for
  FROM rate_hours WHERE {_IN_HOURS}
  UNION ALL
  SELECT cluster, "group", produced, consumed, CASE WHEN produced IS NULL THEN 0 ELSE 1 END,
    CASE WHEN consumed IS NULL THEN 0 ELSE 1 END
  FROM rate_minutes WHERE {_IN_REST} AND minute < (SELECT max(minute) FROM rate_minutes)
)
SELECT cluster, "group", sum(produced) / nullif(60.0 * sum(produced_for), 0) AS produce_rate,
  sum(consumed) / nullif(60.0 * sum(consumed_for), 0) AS consume_rate
FROM every GROUP BY ALL
"""
_LATENESS = f"""
WITH of_minute AS (
  SELECT cluster, "group", minute, max(late_ms) AS late_ms, max(late_max_ms) AS late_max_ms,
    min(time_to_loss_ms) AS time_to_loss_ms
  FROM late_minutes WHERE {_IN_REST} GROUP BY ALL
), worst AS (
  SELECT cluster, "group", late_max_ms, time_to_loss_ms FROM of_minute
  UNION ALL
  SELECT cluster, "group", late_max_ms, time_to_loss_ms FROM late_hours
  WHERE {_IN_HOURS}
), sizes AS (
  SELECT cluster, "group", late_ms::DOUBLE AS size, count(*) AS number FROM of_minute
  WHERE late_ms IS NOT NULL GROUP BY ALL
  UNION ALL
  {of_sketch("late_sketch", f"late_hours WHERE {_IN_HOURS}")}
), {percentiles(late_p95_ms=0.95)}
SELECT cluster, "group", least(late_p95_ms, max(late_max_ms)) AS late_p95_ms,
  max(late_max_ms) AS late_max_ms,
  min(time_to_loss_ms) AS time_to_loss_ms
FROM worst LEFT JOIN percentiles USING (cluster, "group")
GROUP BY cluster, "group", percentiles.late_p95_ms
"""
# The count falls when a group gets past what was deleted, or skips some of it: that is no loss, and
# the count grows anew from there. Of the first count of all nobody knows when it grew, nor how much
# was lost between a count and its fall.
_LOSSES = f"""
WITH counted AS (
  SELECT cluster, "group", minute, lost_records,
    lost_records - lag(lost_records) OVER (
      PARTITION BY cluster, "group", topic ORDER BY minute) AS growth
  FROM loss_minutes WHERE lost_records IS NOT NULL
), summed AS (
  SELECT cluster, "group", sum(growth) FILTER (growth > 0) AS lost,
    bool_or(growth IS NULL AND lost_records > 0) AS is_unknown,
    bool_or(growth < 0) AS has_fallen
  FROM counted WHERE epoch_ms(minute) >= $start AND epoch_ms(minute) < $end GROUP BY ALL
)
SELECT cluster, "group",
  CASE WHEN lost > 0 THEN least(lost, {2**63 - 1}) WHEN NOT is_unknown THEN 0 END::BIGINT
    AS lost_records,
  coalesce(lost > 0 AND (is_unknown OR has_fallen), false) AS lost_at_least
FROM summed
"""
# A generation that was not told before is a rebalance; of the first one that is known only if
# somebody came or went with it.
_MEMBERSHIPS = """
WITH told AS (
  SELECT *, lag(generation) OVER of_group AS generation_before,
    lag("at") OVER of_group AS at_before
  FROM members
  WINDOW of_group AS (PARTITION BY cluster, "group" ORDER BY "at", position)
), of_period AS (
  SELECT *, CASE
    WHEN deleted OR coalesce(generation, -1) < 0 THEN false
    WHEN generation_before >= 0 AND at_before::DATE >= "at"::DATE - 1
      THEN generation <> generation_before
    ELSE previous_state IS NOT NULL AND (len(joined) > 0 OR len("left") > 0)
  END AS is_rebalance
  FROM told WHERE epoch_ms("at") >= $start AND epoch_ms("at") < $end
)
SELECT cluster, "group", count(*) FILTER (is_rebalance) AS rebalances,
  arg_max(CASE WHEN deleted THEN NULL ELSE struct_pack(n := idle_members) END, ("at", position)).n
    AS idle_members
FROM of_period GROUP BY ALL
"""
_OUTLOOKS = """
SELECT cluster, "group", capacity, level, slope, crosses_on, earliest_on, latest_on,
  crosses_in_days, days_until_loss
FROM ({capacity}) WHERE date >= $first
QUALIFY row_number() OVER (PARTITION BY cluster, "group" ORDER BY "day" DESC) = 1
"""
_BUDGETS = """
SELECT cluster, "group", objective, "limit", target, attainment_30d AS attainment,
  budget_left AS left
FROM ({budgets}) WHERE date >= $first
QUALIFY row_number() OVER (
  PARTITION BY cluster, "group", objective, "limit" ORDER BY "day" DESC) = 1
ORDER BY budget_left, cluster, "group", objective, "limit"
"""
