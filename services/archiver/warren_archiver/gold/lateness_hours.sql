-- How late each group was: in a minute it is as late as its latest topic.
WITH minutes AS (
  SELECT cluster, "group", "minute", date_trunc('hour', "minute") AS hour, max(late_ms) AS late_ms,
    max(late_max_ms) AS late_max_ms, min(time_to_loss_ms) AS time_to_loss_ms,
    try_sum(lost_records) AS lost_records
  FROM lateness_minutes GROUP BY cluster, "group", "minute"
), hours AS (
  SELECT cluster, "group", hour, count(*) AS minutes, count(late_ms) AS known_minutes,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY late_ms) AS late_p50_ms,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY late_ms) AS late_p95_ms,
    percentile_disc(0.99) WITHIN GROUP (ORDER BY late_ms) AS late_p99_ms,
    max(late_max_ms) AS late_max_ms, min(time_to_loss_ms) AS time_to_loss_ms,
    max_by(time_to_loss_ms, CASE WHEN time_to_loss_ms IS NOT NULL THEN "minute" END)
      AS time_to_loss_end_ms,
    max(lost_records) AS lost_records
  FROM minutes GROUP BY cluster, "group", hour
), -- sketches: late_ms of minutes
SELECT *, sketch AS late_sketch, CAST(hour AS DATE) AS date
FROM hours LEFT JOIN sketches USING (cluster, "group", hour)
