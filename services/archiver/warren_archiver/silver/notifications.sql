-- Attempts to tell somebody, each once, as it was published first.
WITH every AS (
  SELECT cluster, "group", delivery_id, attempt, outcome, happened AS "at", kind, status, route,
    channel, event_id, incident_id, detail, duration_ms, conditions,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM events WHERE NOT deleted
  UNION ALL
  SELECT cluster, "group", delivery_id, attempt, outcome, "at", kind, status, route, channel,
    event_id, incident_id, detail, duration_ms, conditions,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM stored
), numbered AS (
  SELECT *, row_number() OVER (
    PARTITION BY delivery_id, attempt, outcome
    ORDER BY kafka_timestamp, kafka_topic_id, kafka_partition, kafka_offset
  ) AS number
  FROM every
)
SELECT *, CAST("at" AS DATE) AS date FROM numbered WHERE number = 1
