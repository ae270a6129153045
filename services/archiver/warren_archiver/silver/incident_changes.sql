-- Each change of a group's incident as it was published. What is wrong is what its root says: of the
-- conditions that last the first, and of all the first once none does.
WITH listed AS (
  SELECT *, try_element_at(data.conditions, 1) AS one, try_element_at(data.conditions, 2) AS two,
    try_element_at(data.conditions, 3) AS three
  FROM events WHERE NOT deleted
), rooted AS (
  SELECT *, CASE WHEN one.until IS NULL OR data.closed_at >= 0 THEN one.change
      WHEN two.until IS NULL THEN two.change ELSE three.change END AS root,
    CASE WHEN data.opened_at >= 0
      THEN timestamp_millis(least(data.opened_at, :latest_ms)) ELSE happened END AS opened_at,
    CASE WHEN data.closed_at >= 0
      THEN timestamp_millis(least(data.closed_at, :latest_ms)) END AS closed_at
  FROM listed
)
SELECT cluster, "group", data.incident_id AS incident_id, data.revision AS revision, happened AS "at",
  data.status AS status, data.previous AS previous, data."by" AS condition, data.did AS did, opened_at,
  closed_at, CASE WHEN closed_at IS NOT NULL THEN coalesce(data.reason, data.status) END AS closed_by,
  data.worst AS worst, root.reason AS reason,
  CASE WHEN root.cause.name <> 'unknown' THEN root.cause.name END AS cause,
  data.max_total_lag AS peak_lag, coalesce(data.lost_records, 0) AS lost_records,
  kafka_value AS event, kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp,
  CAST(happened AS DATE) AS date
FROM rooted
