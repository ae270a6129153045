-- Each judgement as the evaluator has published it; of a huge group the part that has its key.
SELECT cluster, "group", happened AS "at", coalesce(position, -1) AS position, status,
  coalesce(is_known, true) AS is_known, complete, total_lag, policy, reason,
  CASE WHEN cause.name <> 'unknown' THEN cause.name END AS cause, incident.id AS incident_id,
  CASE WHEN incident.opened_at >= 0
    THEN timestamp_millis(least(incident.opened_at, :latest_ms)) END AS opened_at,
  kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp,
  CAST(happened AS DATE) AS date
FROM events WHERE NOT deleted AND coalesce(part, 0) = 0
