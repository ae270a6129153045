"""What else is known of a period's groups: rates, lateness, members, what is to come."""

from __future__ import annotations

from typing import Any

from warren.history.lake_tables import LakeTables

from warren_archiver.gold.conventions import GROWTH
from warren_archiver.report.group_report import Budget, Outlook
from warren_archiver.report.hours import Split
from warren_archiver.report.period import Period

Key = tuple[str, str]
"""Cluster and group."""
_WHO = {"cluster": "VARCHAR", "group": "VARCHAR"}
_MOVES = {"produced": "BIGINT", "consumed": "BIGINT"}
_LATE = {"late_max_ms": "BIGINT", "time_to_loss_ms": "BIGINT", "lost_records": "BIGINT"}
_MINUTE_MS, _DAY_MS = 60_000, 86_400_000


def rates(tables: LakeTables, parts: Split) -> dict[Key, dict[str, Any]]:
    """Records a second, produced and consumed, of the minutes in which that is known."""
    known = {"minutes": "BIGINT", "produced_minutes": "BIGINT", "consumed_minutes": "BIGINT"}
    of_hours = _WHO | {"hour": "TIMESTAMPTZ"} | known | _MOVES
    tables.view("rate_hours", "gold/rate_hours", _days(parts.hours), of_hours)
    of_minutes = _WHO | {"minute": "TIMESTAMPTZ"} | _MOVES
    days = _rest_days(parts, _MINUTE_MS)  # is there a later one?
    tables.view("rate_minutes", "silver/group_minutes", days, of_minutes)
    return _by_group(tables.rows(_RATES, _bounds(parts)))


def lateness(tables: LakeTables, parts: Split) -> dict[Key, dict[str, Any]]:
    """How late groups were, as the freshness service measured it."""
    sketch = {"late_sketch": "STRUCT(bucket INTEGER, count BIGINT)[]"}
    of_hours = _WHO | {"hour": "TIMESTAMPTZ"} | _LATE | sketch
    tables.view("late_hours", "gold/lateness_hours", _days(parts.hours), of_hours)
    of_minutes = _WHO | {"minute": "TIMESTAMPTZ", "topic": "VARCHAR", "late_ms": "BIGINT"} | _LATE
    tables.view("late_minutes", "silver/lateness_minutes", _rest_days(parts), of_minutes)
    return _by_group(tables.rows(_LATENESS, _bounds(parts) | {"growth": GROWTH}))


def memberships(tables: LakeTables, period: Period) -> dict[Key, dict[str, Any]]:
    columns = _WHO | {
        "at": "TIMESTAMPTZ",
        "deleted": "BOOLEAN",
        "previous_state": "VARCHAR",
        "generation": "BIGINT",
        "position": "BIGINT",
        "joined": "VARCHAR[]",
        "left": "VARCHAR[]",
        "idle_members": "BIGINT",
    }
    days = period.widened(_DAY_MS).days  # of which generation it was before
    tables.view("members", "silver/membership_changes", days, columns)
    return _by_group(tables.rows(_MEMBERSHIPS, _within(period)))


def outlooks(tables: LakeTables, period: Period) -> dict[Key, Outlook]:
    """As of the period's last day, or the newest one before that is known."""
    names = {
        "capacity": "DOUBLE",
        "level": "DOUBLE",
        "slope": "DOUBLE",
        "crosses_on": "DATE",
        "earliest_on": "DATE",
        "latest_on": "DATE",
        "crosses_in_days": "DOUBLE",
        "days_until_loss": "DOUBLE",
    }
    columns = _WHO | {"day": "TIMESTAMPTZ"} | names
    tables.view("capacity", "gold/capacity", period.widened(_DAY_MS).days, columns)
    found = tables.rows(
        'SELECT * EXCLUDE ("day") FROM capacity '
        'QUALIFY row_number() OVER (PARTITION BY cluster, "group" ORDER BY "day" DESC) = 1'
    )
    return {
        (row["cluster"], row["group"]): Outlook(**{name: row[name] for name in names})
        for row in found
    }


def budgets(tables: LakeTables, period: Period) -> list[Budget]:
    """Those of which least is left come first."""
    columns = _WHO | {
        "objective": "VARCHAR",
        "limit": "VARCHAR",
        "day": "TIMESTAMPTZ",
        "target": "DOUBLE",
        "attainment_30d": "DOUBLE",
        "budget_left": "DOUBLE",
    }
    tables.view("budgets", "gold/error_budgets", period.widened(_DAY_MS).days, columns)
    return [Budget(**row) for row in tables.rows(_BUDGETS)]


def _days(hours: Period) -> list[Any]:
    return hours.days if hours.length_ms else []


def _rest_days(parts: Split, after_ms: int = 0) -> list[Any]:
    return sorted({day for each in parts.rest for day in each.widened(0, after_ms).days})


def _within(period: Period) -> dict[str, int]:
    return {"start": period.start_ms, "end": period.end_ms}


def _bounds(parts: Split) -> dict[str, Any]:
    return {"hours_start": parts.hours.start_ms, "hours_end": parts.hours.end_ms}


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
    min(time_to_loss_ms) AS time_to_loss_ms, sum(lost_records) AS lost_records
  FROM late_minutes WHERE {_IN_REST} GROUP BY ALL
), worst AS (
  SELECT cluster, "group", late_max_ms, time_to_loss_ms, lost_records FROM of_minute
  UNION ALL
  SELECT cluster, "group", late_max_ms, time_to_loss_ms, lost_records FROM late_hours
  WHERE {_IN_HOURS}
), sizes AS (
  SELECT cluster, "group", late_ms::DOUBLE AS late, count(*) AS number FROM of_minute
  WHERE late_ms IS NOT NULL GROUP BY ALL
  UNION ALL
  SELECT cluster, "group", CASE WHEN entry.bucket = 0 THEN 0
    ELSE 2 * pow($growth, entry.bucket) / ($growth + 1) END, sum(entry.count)
  FROM (SELECT cluster, "group", unnest(late_sketch) AS entry FROM late_hours WHERE {_IN_HOURS})
  GROUP BY cluster, "group", entry.bucket
), ranked AS (
  SELECT cluster, "group", late, sum(number) OVER in_order AS rank,
    sum(number) OVER of_group AS total
  FROM sizes WINDOW of_group AS (PARTITION BY cluster, "group"),
    in_order AS (PARTITION BY cluster, "group" ORDER BY late)
), percentiles AS (
  SELECT cluster, "group",
    try_cast(round(min(late) FILTER (rank >= ceil(0.95 * total))) AS BIGINT) AS late_p95_ms
  FROM ranked GROUP BY ALL
)
SELECT cluster, "group", least(late_p95_ms, max(late_max_ms)) AS late_p95_ms,
  max(late_max_ms) AS late_max_ms,
  min(time_to_loss_ms) AS time_to_loss_ms,
  coalesce(max(lost_records), 0)::BIGINT AS lost_records
FROM worst LEFT JOIN percentiles USING (cluster, "group")
GROUP BY cluster, "group", percentiles.late_p95_ms
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
    WHEN deleted OR generation < 0 THEN false
    WHEN generation_before >= 0 AND at_before::DATE >= "at"::DATE - 1
      THEN generation <> generation_before
    ELSE previous_state IS NOT NULL AND (len(joined) > 0 OR len("left") > 0)
  END AS is_rebalance
  FROM told WHERE epoch_ms("at") >= $start AND epoch_ms("at") < $end
)
SELECT cluster, "group", count(*) FILTER (is_rebalance) AS rebalances,
  max(idle_members) FILTER (NOT deleted) AS idle_members
FROM of_period GROUP BY ALL
"""
_BUDGETS = """
SELECT cluster, "group", objective, "limit", target, attainment_30d AS attainment,
  budget_left AS left
FROM budgets
QUALIFY row_number() OVER (
  PARTITION BY cluster, "group", objective, "limit" ORDER BY "day" DESC) = 1
ORDER BY budget_left, cluster, "group", objective, "limit"
"""
