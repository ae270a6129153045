"""Incidents of a period, as they were at its end.

Silver has the newest change of each incident, and all changes of those that changed after the
period; what silver does not have yet is in bronze. A cause that was found after the last change is
in the evaluations, which bronze keeps for a while: a report on a day that is over does without.
"""

from contextlib import suppress

from pydantic import ValidationError
from warren.contracts import Cause, GroupIncident, GroupIncidentEvent
from warren.errors import ContractViolation
from warren.history.lake_tables import LakeTables, moment, text, typed

from warren_archiver.gold.conventions import AGAIN_MS
from warren_archiver.report.group_report import Incident, Judged, Key, incident
from warren_archiver.report.period import Period

_APPENDED_MS = 60_000
"""How much later than it is dated an evaluation may be appended, to be read for its cause."""
_INCIDENT = typed(
    VARCHAR="incident_id",
    TIMESTAMPTZ="opened_at closed_at changed_at told_at",
    BLOB="event",
)
_CHANGE = typed(VARCHAR="incident_id", TIMESTAMPTZ="at", BIGINT="revision", BLOB="event")


def incidents(
    tables: LakeTables,
    period: Period,
    changes: str,
    deliveries: str,
    evaluations: str,
    latest_ms: int,
) -> list[Incident]:
    """Those that lasted in the period, in the order of their beginnings. `statuses.prepare` came
    before: what silver may not have yet is of these topics. `latest_ms`: for so long before the
    period's end evaluations are read for causes.
    """
    days = [day for day in tables.days("silver/incidents") if day <= period.days[-1]]
    tables.view("incidents", "silver/incidents", days, _INCIDENT)
    bounds = {"start": period.start_ms - AGAIN_MS, "end": period.end_ms}
    stored = tables.rows(_STORED, bounds)
    later = [row for row in stored if row["changed_ms"] >= period.end_ms]
    first = min((row["opened_ms"] for row in later), default=period.end_ms)
    listed = ", ".join(text(row["incident_id"]) for row in later)
    of_these = f"incident_id IN ({listed})" if later else None
    tables.view(
        "changes", "silver/incident_changes", Period(first, period.end_ms).days, _CHANGE, of_these
    )
    values = [*stored, *tables.rows(_OTHERS, {"topic": changes, "end": period.end_ms})]
    known: dict[tuple[str, str, str], GroupIncident] = {}
    for row in values:
        with suppress(ContractViolation):  # others may publish to the topic, too
            event = GroupIncidentEvent.from_bytes(row["event"])
            if row["key"] not in (None, event.key):  # of bronze: nobody has looked whose it is
                continue
            each, name = event.data, (*event.about, event.data.incident_id)
            found = known.get(name)
            if each.changed_at < period.end_ms and (not found or found.revision < each.revision):
                known[name] = each
    notified = {
        row["incident_id"]: row["at"]
        for row in tables.rows(_NOTIFIED, {"topic": deliveries, "end": period.end_ms})
    }
    judged = _judged(tables, period, evaluations, latest_ms) if known else {}
    ended: dict[Key, int] = {}
    lasting = []
    for each in sorted(known.values(), key=lambda one: (one.opened_at, one.incident_id)):
        key = each.cluster, each.group
        if each.closed_at is None or each.closed_at > period.start_ms:
            flapped = key in ended and each.opened_at - ended[key] <= AGAIN_MS
            at = notified.get(each.incident_id)
            lasting.append(incident(each, judged, at, flapped=flapped))
        if each.closed_at is not None:
            ended[key] = each.closed_at
    return lasting


def _judged(tables: LakeTables, period: Period, topic: str, latest_ms: int) -> dict[str, Judged]:
    """Causes that the last evaluations before the period's end give, by incident."""
    read = Period(period.end_ms - latest_ms, period.end_ms + (_APPENDED_MS if latest_ms else 0))
    appended = f"timestamp >= {moment(read.start_ms)} AND timestamp < {moment(read.end_ms)}"
    where = f"topic = {text(topic)} AND {appended}"
    tables.view("ending", "bronze/events", read.days, {"value": "BLOB"}, where)
    found = {}
    for row in tables.rows(_CAUSES, {"end": period.end_ms}):
        with suppress(ValidationError):
            cause = Cause.model_validate_json(row["cause"])
            found[row["incident_id"]] = Judged(cause, row["at"])
    return found


_STORED = """
SELECT incident_id, epoch_ms(opened_at) AS opened_ms, epoch_ms(changed_at) AS changed_ms, event,
  NULL::BLOB AS key
FROM incidents
WHERE event IS NOT NULL AND epoch_ms(opened_at) < $end
  AND (closed_at IS NULL OR epoch_ms(closed_at) > $start)
"""
_OTHERS = """
SELECT key, value AS event FROM raw WHERE topic = $topic AND value IS NOT NULL
UNION ALL
SELECT NULL, arg_max(event, revision) FROM changes WHERE epoch_ms("at") < $end
GROUP BY incident_id
"""
_JSON = """
SELECT CASE WHEN json_valid(j) THEN j END AS j
FROM (SELECT try(decode(value)) AS j FROM {rows} AND value IS NOT NULL)
"""
_NOTIFIED = f"""
SELECT incident_id, min("at") AS "at" FROM (
  SELECT incident_id, epoch_ms(told_at) AS "at" FROM incidents
  UNION ALL
  SELECT j->>'$.incident_id', try_cast(j->>'$.at' AS BIGINT)
  FROM ({_JSON.format(rows="raw WHERE topic = $topic")}) WHERE j->>'$.outcome' = 'delivered'
) WHERE "at" < $end GROUP BY incident_id
"""
_CAUSES = f"""
SELECT incident_id, max("at") AS "at", arg_max(cause, "at") AS cause FROM (
  SELECT j->>'$.incident.id' AS incident_id, j->>'$.cause' AS cause,
    try_cast(j->>'$.evaluated_at' AS BIGINT) AS "at"
  FROM ({_JSON.format(rows="ending WHERE true")})
  WHERE coalesce(j->>'$.cause.name', 'unknown') <> 'unknown'
) WHERE incident_id IS NOT NULL AND "at" < $end GROUP BY incident_id
"""
