-- Each change of a group's status; what was published twice counts once. A cause that is unknown is
-- none.
WITH told AS (
  SELECT *, data.cause.name <> 'unknown' AS is_known FROM events WHERE NOT deleted
), every AS (
  SELECT cluster, "group", id AS event_id, type, happened AS "from", data.status AS status,
    data.previous AS previous, data.reason AS reason, data.explanation AS explanation,
    CASE WHEN is_known THEN data.cause.name END AS cause,
    CASE WHEN is_known THEN data.cause.sentence END AS cause_sentence,
    CASE WHEN is_known THEN data.cause.action END AS "action",
    CASE WHEN is_known THEN arrays_zip(
      data.cause.also[*].name, data.cause.also[*].sentence, data.cause.also[*].action
    ) END AS also,
    data.incident_id AS incident_id,
    CASE WHEN data.opened_at >= 0
      THEN timestamp_millis(least(data.opened_at, :latest_ms)) END AS opened_at,
    data.total_lag AS total_lag,
    try_add(size(data.partitions), coalesce(data.partitions_omitted, 0)) AS bad_partitions,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM told
  UNION ALL
  SELECT cluster, "group", event_id, type, "from", status, previous, reason, explanation, cause,
    cause_sentence, "action", also, incident_id, opened_at, total_lag, bad_partitions,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM stored
), numbered AS (
  SELECT *, row_number() OVER (
    PARTITION BY cluster, "group", event_id
    ORDER BY kafka_timestamp, kafka_topic_id, kafka_partition, kafka_offset
  ) AS number
  FROM every
)
SELECT *, CAST("from" AS DATE) AS date FROM numbered WHERE number = 1
