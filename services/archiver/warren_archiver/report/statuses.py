"""Status times and lags of a period: whole hours from gold, the rest from evaluations, of which the
newest are in bronze alone.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, get_args

from warren.contracts import GroupStatusName
from warren.history.lake_tables import LakeTables, moment, text, typed
from warren.words import LATEST_MOMENT

from warren_archiver.report.lag_sketch import SKETCH, of_sketch, percentiles
from warren_archiver.report.period import Period, Split

CLOCK_SKEW_MS = 86_400_000
"""How much later than its record an evaluation may be dated, for clocks that disagree."""
BEHIND_MS = 900_000
"""Before silver's newest evaluation bronze is read by so much: they are of several logs."""
_EVALUATIONS = typed(
    VARCHAR="cluster group status", TIMESTAMPTZ="at kafka_timestamp", BIGINT="position total_lag"
)
_EVENTS = typed(VARCHAR="topic", BLOB="key value", TIMESTAMPTZ="timestamp")
_HOURS = typed(
    VARCHAR="cluster group", TIMESTAMPTZ="hour", BIGINT="ok_ms warn_ms err_ms evaluations lag_max"
) | {"lag_sketch": SKETCH}


def found_by_day(
    tables: LakeTables,
    table: str,
    days: Iterable[date],
    expression: str,
    columns: str,
    where: str | None = None,
) -> int | None:
    """A moment made of these `columns`, of the first of the days that has one, Unix milliseconds:
    the days after that are not opened."""
    for day in days:
        tables.view("of_day", table, [day], typed(TIMESTAMPTZ=columns), where)
        (row,) = tables.rows(f"SELECT epoch_ms({expression}) AS found FROM of_day")
        if row["found"] is not None:
            return int(row["found"])
    return None


def newest_ms(tables: LakeTables, topic: str, now_ms: int) -> int | None:
    """Append time of the newest evaluation in the archive; one of the future tells nothing."""
    for table, column, where in (
        ("bronze/events", "timestamp", f"topic = {text(topic)} AND "),
        ("silver/evaluations", "kafka_timestamp", ""),
    ):
        today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        days = [day for day in tables.days(table) if day <= today]
        past = f"{where}{column} < {moment(now_ms + 1)}"
        if found := found_by_day(tables, table, days, f"max({column})", column, past):
            return found
    return None


def prepare(
    tables: LakeTables,
    topics: Sequence[str],
    period: Period,
    parts: Split,
    max_gap_ms: int,
    *,
    is_whole: bool,
) -> None:
    """Makes `judged` what was judged in the rest and shortly before, each once, and at the
    period's end: cluster, group, at and until (milliseconds), status and lag; status is null for a
    group's end. Makes `hours` the whole ones, and `raw` the records of `topics`, of which the
    first has evaluations, that silver may not have. `is_whole`: it has all of the period.
    """
    end = Period(period.end_ms, period.end_ms)
    wanted = [each.widened(max_gap_ms) for each in (*parts.rest, end)]
    days = {day for each in wanted for day in each.days}
    tables.view("typed", "silver/evaluations", days, _EVALUATIONS)
    _set_ranges(tables, "rest", parts.rest)
    _set_ranges(tables, "wanted", wanted)
    raw = Period(period.end_ms, period.end_ms) if is_whole else _not_in_silver(tables, wanted)
    listed = ", ".join(map(text, topics))
    appended = f"timestamp >= {moment(raw.start_ms)} AND timestamp < {moment(raw.end_ms)}"
    skewed = {day for each in wanted for day in each.widened(CLOCK_SKEW_MS, CLOCK_SKEW_MS).days}
    where = f"topic IN ({listed}) AND {appended}"
    tables.view("raw", "bronze/events", skewed.intersection(raw.days), _EVENTS, where)
    bounds: dict[str, Any] = {"topic": topics[0], "end": period.end_ms, "gap": max_gap_ms}
    bounds |= {"statuses": get_args(GroupStatusName), "latest": LATEST_MOMENT}
    tables.rows(f"CREATE OR REPLACE TEMP TABLE judged AS {_JUDGED}", bounds)
    tables.view("hours", "gold/status_hours", parts.hours.days, _HOURS)


def _not_in_silver(tables: LakeTables, wanted: Sequence[Period]) -> Period:
    """When records were appended that may tell of these times, and that silver may not have."""
    (newest,) = tables.rows("SELECT epoch_ms(max(kafka_timestamp)) AS newest FROM typed")
    first = min(each.start_ms for each in wanted) - CLOCK_SKEW_MS
    last = max(each.end_ms for each in wanted) + CLOCK_SKEW_MS
    since = first if newest["newest"] is None else max(newest["newest"] - BEHIND_MS, first)
    return Period(since, last)


def _set_ranges(tables: LakeTables, name: str, ranges: Sequence[Period]) -> None:
    values = {"start": [each.start_ms for each in ranges], "end": [each.end_ms for each in ranges]}
    made = f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT unnest($start::BIGINT[]) AS start_ms"
    tables.rows(f"{made}, unnest($end::BIGINT[]) AS end_ms", values)


def figures(tables: LakeTables, parts: Split, period: Period) -> list[dict[str, Any]]:
    """A row for each group that was judged in the period; `prepare` came before."""
    return tables.rows(
        _FIGURES,
        parts.bounds | {"end": period.end_ms},
    )


def lag_over_time(tables: LakeTables, parts: Split, step_ms: int) -> list[dict[str, Any]]:
    """Greatest lag of each step, by group; `prepare` came before. Hours of gold are one step."""
    return tables.rows(
        _OVER_TIME,
        parts.bounds | {"step": step_ms},
    )


_JUDGED = """
WITH published AS (
  SELECT try(decode(key)) AS k, try(decode(value)) AS j, value IS NULL AS is_end, timestamp
  FROM raw WHERE topic = $topic
), told AS (
  SELECT split_part(k, '|', 1) AS cluster, substr(k, strpos(k, '|') + 1) AS "group",
    coalesce(try_cast(j->>'$.evaluated_at' AS BIGINT), epoch_ms(timestamp)) AS "at",
    coalesce(try_cast(j->>'$.position' AS BIGINT), -2) AS position,
    j->>'$.status' AS status, try_cast(j->>'$.total_lag' AS BIGINT) AS lag, 0 AS source
  FROM published WHERE NOT starts_with(k, '+') AND (is_end OR CASE WHEN json_valid(j)
    THEN concat(j->>'$.cluster', '|', j->>'$.group') = k
      AND list_contains($statuses, j->>'$.status') AND j->>'$.v' = '1'
      AND json_type(j, '$.evaluated_at') = 'UBIGINT' AND json_type(j, '$.total_lag') = 'UBIGINT'
      AND try_cast(j->>'$.complete' AS DOUBLE) BETWEEN 0 AND 1
      AND try_cast(j->>'$.evaluated_at' AS BIGINT) BETWEEN 0 AND $latest END)
  UNION ALL
  SELECT cluster, "group", epoch_ms("at"), position, status, total_lag, 1 FROM typed
), once AS (
  SELECT cluster, "group", "at", position, arg_min(status, source) AS status,
    arg_min(lag, source) AS lag
  FROM told
  WHERE EXISTS (FROM wanted WHERE told."at" >= start_ms AND told."at" < end_ms AND told."at" < $end)
  GROUP BY ALL
)
SELECT cluster, "group", "at", position, status, lag,
  least(coalesce(lead("at") OVER of_group, "at" + $gap), "at" + $gap) AS until
FROM once WINDOW of_group AS (PARTITION BY cluster, "group" ORDER BY "at", position)
"""
_FIGURES = f"""
WITH gold AS (
  SELECT * FROM hours WHERE epoch_ms(hour) >= $hours_start AND epoch_ms(hour) < $hours_end
), parts AS (
  SELECT cluster, "group", status,
    greatest(least(until, end_ms) - greatest("at", start_ms), 0) AS held,
    CASE WHEN "at" >= start_ms AND "at" < end_ms THEN lag END AS lag,
    "at", until
  FROM judged, rest WHERE "at" < end_ms AND until > start_ms - 1
), held AS (
  SELECT cluster, "group", sum(held) FILTER (status = 'OK') AS ok,
    sum(held) FILTER (status = 'WARN') AS warn, sum(held) FILTER (status = 'ERR') AS err,
    sum(held) FILTER (status = 'NOTFOUND') AS notfound, count(lag) AS evaluations,
    max(lag) AS lag_max
  FROM parts GROUP BY ALL
  UNION ALL
  SELECT cluster, "group", sum(ok_ms), sum(warn_ms), sum(err_ms), 0, sum(evaluations), max(lag_max)
  FROM gold GROUP BY ALL
), summed AS (
  SELECT cluster, "group", sum(ok)::BIGINT AS ok, sum(warn)::BIGINT AS warn,
    sum(err)::BIGINT AS err, sum(notfound)::BIGINT AS notfound,
    sum(evaluations)::BIGINT AS evaluations, max(lag_max) AS lag_max
  FROM held GROUP BY ALL
), sizes AS (
  SELECT cluster, "group", lag::DOUBLE AS size, count(*) AS number FROM parts
  WHERE lag IS NOT NULL GROUP BY ALL
  UNION ALL
  {of_sketch("lag_sketch", "gold")}
), {percentiles(lag_p50=0.5, lag_p95=0.95)}, ends AS (
  SELECT cluster, "group", arg_max(status, ("at", position)) AS status FROM judged
  WHERE until >= $end GROUP BY ALL
)
SELECT summed.*, lag_p50, lag_p95, ends.status
FROM summed LEFT JOIN percentiles USING (cluster, "group") LEFT JOIN ends USING (cluster, "group")
WHERE evaluations > 0
"""
_OVER_TIME = """
SELECT cluster, "group", "at", max(lag) AS lag FROM (
  SELECT cluster, "group", "at" - "at" % $step AS "at", lag FROM judged, rest
  WHERE lag IS NOT NULL AND "at" >= start_ms AND "at" < end_ms
  UNION ALL
  SELECT cluster, "group", epoch_ms(hour), lag_max FROM hours
  WHERE epoch_ms(hour) >= $hours_start AND epoch_ms(hour) < $hours_end AND lag_max IS NOT NULL
) GROUP BY ALL ORDER BY ALL
"""
