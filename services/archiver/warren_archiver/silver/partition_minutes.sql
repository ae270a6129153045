-- Each partition of a group in a minute in which it was observed, and what moved since the observation
-- before; what was observed twice counts once. Contracts write -1 where nothing is known.
WITH topics AS (
  SELECT *, explode(map_entries(topics)) AS entry FROM events
), lists AS (
  SELECT *, entry.key AS topic, entry.value.partition AS partitions,
    explode(sequence(1, size(entry.value.partition), 1)) AS number
  FROM topics WHERE size(entry.value.partition) > 0
), listed AS (
  SELECT *, try_element_at(partitions, number) AS partition,
    try_element_at(entry.value.committed, number) AS committed,
    try_element_at(entry.value.commits, number) AS commits,
    try_element_at(entry.value.log_start, number) AS log_start,
    try_element_at(entry.value.log_end, number) AS log_end
  FROM lists
), every AS (
  SELECT cluster, "group", topic, partition, happened AS "at", position, commits,
    CASE WHEN committed >= 0 THEN committed END AS committed,
    CASE WHEN log_start >= 0 THEN log_start END AS log_start,
    CASE WHEN log_end >= 0 THEN log_end END AS log_end,
    kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM listed WHERE partition IS NOT NULL
), ordered AS (
  SELECT *, lag("at") OVER in_order AS at_before, lag(position) OVER in_order AS position_before,
    lag(committed) OVER in_order AS committed_before, lag(log_end) OVER in_order AS end_before
  FROM every
  WINDOW in_order AS (
    PARTITION BY cluster, "group", topic, partition
    ORDER BY "at", position, kafka_timestamp, kafka_topic_id, kafka_partition, kafka_offset
  )
), moved AS (
  SELECT *, unix_millis("at") - unix_millis(at_before) <= :single_ms AS is_near,
    committed - committed_before AS advanced, log_end - end_before AS grown
  FROM ordered
  -- Not what was observed before, or is among these events twice.
  WHERE at_before IS NULL OR "at" <> at_before OR position <> position_before
    OR committed IS DISTINCT FROM committed_before OR log_end IS DISTINCT FROM end_before
), observed AS (
  SELECT cluster, "group", topic, partition, date_trunc('minute', "at") AS "minute", commits,
    committed, log_start, log_end,
    -- What retention has deleted nobody can read. `greatest` passes over nulls.
    CASE WHEN committed IS NOT NULL AND log_end IS NOT NULL
      THEN log_end - least(log_end, greatest(committed, log_start)) END AS lag,
    -- A log end goes back only where the topic is another one, or its log was cut.
    CASE WHEN is_near AND grown >= 0 THEN grown END AS produced,
    CASE WHEN is_near AND advanced >= 0 THEN advanced WHEN is_near AND advanced < 0 THEN 0 END
      AS consumed,
    CASE WHEN is_near AND advanced < 0 THEN -advanced WHEN is_near AND advanced >= 0 THEN 0 END
      AS rewound,
    struct("at", position, kafka_timestamp, kafka_topic_id, kafka_partition, kafka_offset) AS place
  FROM moved
)
SELECT cluster, "group", topic, partition, "minute", count(*) AS observations,
  try_sum(commits) AS commits, max_by(committed, place) AS committed,
  max_by(log_start, place) AS log_start, max_by(log_end, place) AS log_end,
  max_by(lag, place) AS lag, min(lag) AS lag_min, max(lag) AS lag_max, try_sum(produced) AS produced,
  try_sum(consumed) AS consumed, try_sum(rewound) AS rewound, CAST("minute" AS DATE) AS date
FROM observed GROUP BY cluster, "group", topic, partition, "minute"
