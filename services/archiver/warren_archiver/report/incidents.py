"""Incidents of a period, with the cause that was told last: the same that the pages show.

A cause comes with status changes, and with the evaluations before the period's end: at the moment
of a change it may not be known yet. Evaluations have it in bronze alone, which keeps them for a
while: a report on a day that is over goes by status changes.
"""

from collections.abc import Iterator
from datetime import timedelta

from warren.history.lake_tables import LakeTables, moment, text, typed

from warren_archiver.gold.conventions import AGAIN_MS
from warren_archiver.report.incident import Consequence, Incident
from warren_archiver.report.period import Period

CHANGES_READ = timedelta(days=30)
"""Of incidents that began longer before the period, changes before that are not read."""
_APPENDED_MS = 60_000
"""How much later than it is dated an evaluation may be appended, to be read for its cause."""
_ALSO = 'STRUCT("name" VARCHAR, sentence VARCHAR, "action" VARCHAR)[]'
_INCIDENT = typed(
    VARCHAR="cluster group incident_id worst reason cause",
    TIMESTAMPTZ="opened_at closed_at told_at",
    BIGINT="peak_lag",
)
_NOTIFIED = typed(VARCHAR="outcome", TIMESTAMPTZ="at") | {"conditions": "VARCHAR[]"}
_CHANGE = typed(
    VARCHAR="incident_id status reason cause cause_sentence action explanation",
    TIMESTAMPTZ="from",
    BIGINT="total_lag",
) | {"also": _ALSO}


def incidents(
    tables: LakeTables,
    period: Period,
    changes: str,
    deliveries: str,
    evaluations: str,
    latest_ms: int,
) -> list[Incident]:
    """Those that lasted in the period, as they were at its end; in the order of their
    beginnings. `statuses.prepare` came before: what silver may not have yet is of these topics.
    `latest_ms`: for so long before the period's end evaluations are read for causes.
    """
    first = period.widened(round(CHANGES_READ.total_seconds() * 1000))
    days = [day for day in tables.days("silver/incidents") if day <= period.days[-1]]
    tables.view("incidents", "silver/incidents", days, _INCIDENT)
    tables.view("changes", "silver/status_changes", first.days, _CHANGE)
    tables.view("notified", "silver/notifications", first.days, _NOTIFIED)
    tables.rows(_FRESH, {"changes": changes, "deliveries": deliveries})
    _prepare_latest(tables, period, evaluations, latest_ms)
    bounds = {"start": period.start_ms, "end": period.end_ms}
    rows = tables.rows(_INCIDENTS, bounds | {"again": AGAIN_MS, "deliveries": deliveries})
    return [Incident(**row | {"also": tuple(_consequences(row["also"]))}) for row in rows]


def _consequences(found: list[dict[str, str | None] | None] | None) -> Iterator[Consequence]:
    """Those that say something: others publish to these topics, too."""
    for each in found or ():
        if each and each["name"] and each["sentence"]:
            yield Consequence(each["name"], each["sentence"], each["action"])


def _prepare_latest(tables: LakeTables, period: Period, topic: str, latest_ms: int) -> None:
    """Makes `latest` the causes that the evaluations before the period's end have."""
    read = Period(period.end_ms - latest_ms, period.end_ms + _APPENDED_MS)
    appended = f"timestamp >= {moment(read.start_ms)} AND timestamp < {moment(read.end_ms)}"
    where = f"topic = {text(topic)} AND {appended}"
    days = read.days if latest_ms else []
    tables.view("ending", "bronze/events", days, {"value": "BLOB"}, where)
    tables.rows(_LATEST)


_ALSO_IN_JSON = """'[{"name": "VARCHAR", "sentence": "VARCHAR", "action": "VARCHAR"}]'"""
_FRESH = """
CREATE OR REPLACE TEMP TABLE fresh AS
SELECT topic, CASE WHEN json_valid(j) THEN j END AS j FROM (
  SELECT topic, try(decode(value)) AS j FROM raw
  WHERE topic IN ($changes, $deliveries) AND value IS NOT NULL
)
"""
_LATEST = f"""
CREATE OR REPLACE TEMP TABLE latest AS
SELECT j->>'$.incident.id' AS incident_id, try_cast(j->>'$.evaluated_at' AS BIGINT) AS "at",
  j->>'$.cause.name' AS cause, j->>'$.cause.sentence' AS sentence, j->>'$.cause.action' AS "action",
  from_json(j->'$.cause.also', {_ALSO_IN_JSON}) AS also
FROM (
  SELECT CASE WHEN json_valid(j) THEN j END AS j
  FROM (SELECT try(decode(value)) AS j FROM ending WHERE value IS NOT NULL)
) WHERE coalesce(j->>'$.cause.name', 'unknown') <> 'unknown'
"""
# What silver has as well counts once: of all that is known of an incident the first and last count.
_INCIDENTS = f"""
WITH fresh_changes AS (
  SELECT j->>'$.data.cluster' AS cluster, j->>'$.data.group' AS "group",
    j->>'$.data.incident_id' AS incident_id, try_cast(j->>'$.time' AS TIMESTAMPTZ) AS "from",
    j->>'$.data.status' AS status, j->>'$.data.reason' AS reason,
    nullif(j->>'$.data.cause.name', 'unknown') AS cause,
    j->>'$.data.cause.sentence' AS cause_sentence, j->>'$.data.cause.action' AS "action",
    from_json(j->'$.data.cause.also', {_ALSO_IN_JSON}) AS also,
    j->>'$.data.explanation' AS explanation,
    try_cast(j->>'$.data.total_lag' AS BIGINT) AS total_lag,
    make_timestamptz(try_cast(j->>'$.data.opened_at' AS BIGINT) * 1000) AS opened_at
  FROM fresh WHERE topic <> $deliveries AND j->>'$.data.incident_id' IS NOT NULL
), told AS (
  SELECT unnest(list_append(coalesce(j->>'$.conditions[*]', []), j->>'$.incident_id'))
      AS incident_id,
    make_timestamptz(try_cast(j->>'$.at' AS BIGINT) * 1000) AS told_at
  FROM fresh WHERE topic = $deliveries AND j->>'$.outcome' = 'delivered'
  UNION ALL
  SELECT unnest(conditions), "at" FROM notified WHERE outcome = 'delivered'
), every AS (
  SELECT cluster, "group", incident_id, opened_at, closed_at, told_at FROM incidents
  UNION ALL
  SELECT cluster, "group", incident_id, coalesce(opened_at, "from"),
    CASE WHEN status IN ('OK', 'NOTFOUND') THEN "from" END, NULL
  FROM fresh_changes WHERE "from" IS NOT NULL
  UNION ALL
  SELECT NULL, NULL, incident_id, NULL, NULL, told_at FROM told
), once AS (
  SELECT min(cluster) AS cluster, min("group") AS "group", incident_id,
    min(opened_at) AS opened_at, min(closed_at) AS closed_at, min(told_at) AS told_at
  FROM every GROUP BY incident_id
), known AS (
  SELECT *, epoch_ms(opened_at) AS opened_ms,
    CASE WHEN epoch_ms(closed_at) < $end THEN epoch_ms(closed_at) END AS closed_ms,
    CASE WHEN epoch_ms(told_at) < $end THEN epoch_ms(told_at) END AS told_ms
  FROM once WHERE epoch_ms(opened_at) < $end
), turns AS (
  SELECT cluster, "group", opened_ms AS turn, incident_id, NULL::BIGINT AS ended FROM known
  UNION ALL
  SELECT cluster, "group", closed_ms, NULL, closed_ms FROM known WHERE closed_ms > opened_ms
), noisy AS (
  SELECT incident_id, turn - max(ended) OVER (PARTITION BY cluster, "group"
    ORDER BY turn, ended NULLS LAST ROWS UNBOUNDED PRECEDING) AS since
  FROM turns QUALIFY incident_id IS NOT NULL
), every_change AS (
  SELECT incident_id, "from", status, reason, cause, cause_sentence, "action", also, explanation,
    total_lag
  FROM changes
  UNION ALL
  SELECT incident_id, "from", status, reason, cause, cause_sentence, "action", also, explanation,
    total_lag
  FROM fresh_changes WHERE "from" IS NOT NULL
), causes AS (
  SELECT incident_id, arg_max({{'name': cause, 'sentence': sentence, 'action': "action",
    'also': also, 'at': "at"}}, "at") AS newest
  FROM (
    SELECT incident_id, epoch_ms("from") AS "at", cause, cause_sentence AS sentence, "action", also
    FROM every_change WHERE cause IS NOT NULL
    UNION ALL
    SELECT incident_id, "at", cause, sentence, "action", also FROM latest
  ) WHERE "at" >= 0 AND "at" < $end GROUP BY ALL
), said AS (
  SELECT incident_id,
    CASE WHEN bool_or(status = 'ERR') THEN 'ERR' WHEN bool_or(status = 'WARN') THEN 'WARN' END
      AS worst,
    arg_min(reason, "from") FILTER (status IN ('WARN', 'ERR')) AS reason,
    arg_max(explanation, "from") FILTER (status IN ('WARN', 'ERR')) AS explanation,
    epoch_ms(max("from") FILTER (status IN ('WARN', 'ERR') AND explanation IS NOT NULL)) AS seen_ms,
    max(total_lag) AS peak_lag
  FROM every_change WHERE epoch_ms("from") < $end GROUP BY ALL
)
SELECT known.cluster, known."group", known.incident_id, opened_ms, closed_ms, told_ms,
  coalesce(said.worst, incidents.worst, 'WARN') AS worst,
  coalesce(said.reason, incidents.reason) AS reason,
  coalesce(newest.name, incidents.cause) AS cause, newest.sentence, newest."action", newest.also,
  newest."at" AS said_ms, explanation, seen_ms,
  coalesce(said.peak_lag, incidents.peak_lag, 0)::BIGINT AS peak_lag,
  coalesce(since <= $again, false) AS flapped
FROM known LEFT JOIN said USING (incident_id) LEFT JOIN incidents USING (incident_id)
  LEFT JOIN noisy USING (incident_id) LEFT JOIN causes USING (incident_id)
WHERE coalesce(closed_ms, $end) > $start ORDER BY opened_ms, known.incident_id
"""
