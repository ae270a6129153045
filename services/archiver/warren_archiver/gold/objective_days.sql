-- In how many minutes of a day each limit was kept. A minute breaks a limit by what was known last in
-- it; a minute of which nothing is known counts as kept, as for burn rates that people are told of.
WITH lags AS (
  SELECT cluster, "group", topic, "minute", try_sum(lag) AS lag
  FROM partition_minutes GROUP BY cluster, "group", topic, "minute"
), known AS (
  SELECT cluster, "group", topic, "minute", lag, late_ms, produce_rate, time_to_loss_ms
  FROM lags FULL JOIN lateness_minutes USING (cluster, "group", topic, "minute")
), minutes AS (
  SELECT cluster, "group", objective, "limit", wanted, target, "minute",
    CASE "limit"
      WHEN 'max_freshness' THEN max(late_ms) > wanted
      WHEN 'max_lag' THEN try_sum(lag) > wanted
      WHEN 'min_produce_rate' THEN sum(produce_rate) < wanted
      WHEN 'min_time_to_loss' THEN min(time_to_loss_ms) < wanted
    END AS is_broken
  FROM known JOIN limits USING (cluster, "group", topic)
  GROUP BY cluster, "group", objective, "limit", wanted, target, "minute"
), days AS (
  SELECT cluster, "group", objective, "limit", wanted, target, date_trunc('day', "minute") AS day,
    count(*) AS minutes, count_if(is_broken) AS broken
  FROM minutes
  GROUP BY cluster, "group", objective, "limit", wanted, target, date_trunc('day', "minute")
)
SELECT *, 1 - broken / minutes AS attainment, broken / minutes / (1 - target) AS burn_rate,
  CAST(day AS DATE) AS date
FROM days
