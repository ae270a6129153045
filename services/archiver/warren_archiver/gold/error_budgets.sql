-- What is left, at the end of each day, of what a target allows in the 30 days up to it.
WITH numbered AS (
  SELECT *, CAST(unix_millis(day) / 86400000 AS BIGINT) AS number
  FROM objective_days WHERE target IS NOT NULL
), summed AS (
  SELECT cluster, "group", objective, "limit", day, target,
    sum(minutes) OVER last_days AS minutes_30d, sum(broken) OVER last_days AS broken_30d
  FROM numbered
  WINDOW last_days AS (
    PARTITION BY cluster, "group", objective, "limit" ORDER BY number
    RANGE BETWEEN 29 PRECEDING AND CURRENT ROW
  )
), allowed AS (
  SELECT *, minutes_30d * (1 - target) AS allowed_minutes FROM summed
)
SELECT *, 1 - broken_30d / minutes_30d AS attainment_30d,
  1 - broken_30d / allowed_minutes AS budget_left, CAST(day AS DATE) AS date
FROM allowed
