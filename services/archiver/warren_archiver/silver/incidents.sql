-- Each incident from its status changes and the deliveries about it. Whose end is told again was over
-- at the first time; an end that is dated before the trouble, by a clock that was set back, is one too.
WITH ordered AS (
  SELECT *, status IN ('OK', 'NOTFOUND') AS is_end, row_number() OVER (
    PARTITION BY incident_id
    ORDER BY "from", kafka_timestamp, kafka_topic_id, kafka_partition, kafka_offset
  ) AS number
  FROM status_changes
), marked AS (
  SELECT *, coalesce(
      max(CASE WHEN NOT is_end THEN number END) OVER (PARTITION BY incident_id), 0
    ) AS last_trouble
  FROM ordered
), ended AS (
  SELECT *, coalesce(
      min(CASE WHEN is_end AND number > last_trouble THEN number END) OVER of_incident,
      max(CASE WHEN is_end THEN number END) OVER of_incident
    ) AS end_number
  FROM marked WINDOW of_incident AS (PARTITION BY incident_id)
), changes AS (
  SELECT incident_id, min(cluster) AS cluster, min("group") AS "group",
    min(coalesce(opened_at, "from")) AS opened_at,
    max(CASE WHEN number = end_number THEN "from" END) AS closed_at,
    max(CASE WHEN number = end_number AND status = 'OK' THEN 'OK'
      WHEN number = end_number THEN coalesce(reason, status) END) AS closed_by,
    CASE WHEN count_if(status = 'ERR') > 0 THEN 'ERR'
      WHEN count_if(status = 'WARN') > 0 THEN 'WARN' END AS worst,
    min_by(reason, CASE WHEN NOT is_end AND reason IS NOT NULL THEN number END) AS reason,
    max_by(cause, CASE WHEN cause IS NOT NULL THEN number END) AS cause, count(*) AS changes,
    max(total_lag) AS peak_lag, max(bad_partitions) AS peak_bad_partitions
  FROM ended GROUP BY incident_id
), receivers AS (
  SELECT incident_id, array_sort(array_agg(DISTINCT struct(route, channel))) AS told
  FROM notifications WHERE outcome = 'delivered' GROUP BY incident_id
), attempts AS (
  SELECT incident_id, min(CASE WHEN outcome = 'delivered' THEN "at" END) AS told_at,
    count_if(outcome = 'delivered') AS deliveries,
    count_if(outcome IN ('failed', 'refused', 'given_up')) AS failures
  FROM notifications GROUP BY incident_id
)
SELECT cluster, "group", incident_id, opened_at, closed_at, closed_by,
  unix_millis(closed_at) - unix_millis(opened_at) AS duration_ms, worst, reason, cause, changes,
  peak_lag, peak_bad_partitions, coalesce(told, []) AS told, told_at,
  coalesce(deliveries, 0) AS deliveries, coalesce(failures, 0) AS failures,
  CAST(opened_at AS DATE) AS date
FROM changes LEFT JOIN receivers USING (incident_id) LEFT JOIN attempts USING (incident_id)
