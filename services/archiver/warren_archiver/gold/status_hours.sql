-- How long each group had which status, and how far it was behind. An evaluation counts once, however
-- often its event came; its status holds until the next one, or for the most that a status may.
WITH ordered AS (
  SELECT cluster, "group", "at", position, status, total_lag, unix_millis("at") AS at_ms,
    row_number() OVER (
      PARTITION BY cluster, "group", "at", position
      ORDER BY kafka_timestamp, kafka_topic_id, kafka_partition, kafka_offset
    ) AS number
  FROM evaluations
), once AS (
  SELECT *, date_trunc('hour', "at") AS hour,
    lead(at_ms) OVER (PARTITION BY cluster, "group" ORDER BY at_ms, position) AS next_ms
  FROM ordered WHERE number = 1
), spans AS (
  SELECT *, least(coalesce(next_ms, at_ms + :most_ms), at_ms + :most_ms) AS until_ms FROM once
), parts AS (
  SELECT *, explode(sequence(at_ms - at_ms % 3600000, until_ms - 1, 3600000)) AS begin_ms
  FROM spans WHERE until_ms > at_ms
), cut AS (
  SELECT cluster, "group", status, timestamp_millis(begin_ms) AS hour,
    least(until_ms, begin_ms + 3600000) - greatest(at_ms, begin_ms) AS held_ms
  FROM parts
), held AS (
  SELECT cluster, "group", hour,
    sum(CASE WHEN status = 'OK' THEN held_ms END) AS ok_ms,
    sum(CASE WHEN status = 'WARN' THEN held_ms END) AS warn_ms,
    sum(CASE WHEN status = 'ERR' THEN held_ms END) AS err_ms
  FROM cut GROUP BY cluster, "group", hour
), lags AS (
  SELECT cluster, "group", hour, count(*) AS evaluations,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY total_lag) AS lag_p50,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY total_lag) AS lag_p95,
    percentile_disc(0.99) WITHIN GROUP (ORDER BY total_lag) AS lag_p99,
    max(total_lag) AS lag_max
  FROM once GROUP BY cluster, "group", hour
), -- sketches: total_lag of once
SELECT cluster, "group", hour, coalesce(evaluations, 0) AS evaluations, coalesce(ok_ms, 0) AS ok_ms,
  coalesce(warn_ms, 0) AS warn_ms, coalesce(err_ms, 0) AS err_ms, lag_p50, lag_p95, lag_p99, lag_max,
  sketch AS lag_sketch, CAST(hour AS DATE) AS date
FROM held FULL JOIN lags USING (cluster, "group", hour)
  LEFT JOIN sketches USING (cluster, "group", hour)
