-- Each incident as its newest change says, with the deliveries about it.
WITH every AS (
  SELECT cluster, "group", incident_id, revision AS changes, "at" AS changed_at, opened_at, closed_at,
    closed_by, worst, reason, cause, peak_lag, lost_records, event, NULL AS told_before
  FROM incident_changes
  UNION ALL
  SELECT cluster, "group", incident_id, changes, changed_at, opened_at, closed_at, closed_by, worst,
    reason, cause, peak_lag, lost_records, event, told_at
  FROM stored
), ordered AS (
  SELECT *, min(told_before) OVER (PARTITION BY incident_id) AS first_told, row_number() OVER (
    PARTITION BY incident_id ORDER BY changes DESC, changed_at DESC, event DESC
  ) AS number
  FROM every
), receivers AS (
  SELECT incident_id, array_sort(array_agg(DISTINCT struct(route, channel))) AS told
  FROM notifications WHERE outcome = 'delivered' GROUP BY incident_id
), attempts AS (
  SELECT incident_id, min(CASE WHEN outcome = 'delivered' THEN "at" END) AS told_at,
    count_if(outcome = 'delivered') AS deliveries,
    count_if(outcome IN ('failed', 'refused', 'given_up')) AS failures
  FROM notifications GROUP BY incident_id
)
SELECT cluster, "group", incident_id, changes, changed_at, opened_at, closed_at, closed_by,
  unix_millis(closed_at) - unix_millis(opened_at) AS duration_ms, worst, reason, cause, peak_lag,
  lost_records, coalesce(told, []) AS told, least(first_told, told_at) AS told_at,
  coalesce(deliveries, 0) AS deliveries, coalesce(failures, 0) AS failures, event,
  CAST(opened_at AS DATE) AS date
FROM ordered LEFT JOIN receivers USING (incident_id) LEFT JOIN attempts USING (incident_id)
WHERE number = 1
