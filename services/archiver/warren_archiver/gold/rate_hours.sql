-- What was produced to each group's topics and what it consumed. How fast a group can go is seen only
-- while it is behind: of five minutes in a row at whose beginnings as much was left as they consumed.
WITH ordered AS (
  SELECT *, unix_seconds("minute") AS second, lag(unix_seconds("minute")) OVER of_group AS before,
    lag(lag) OVER of_group AS lag_before
  FROM group_minutes
  WINDOW of_group AS (PARTITION BY cluster, "group" ORDER BY "minute")
), judged AS (
  SELECT *, CASE WHEN before = second - 60 AND lag_before > 0 AND lag_before >= consumed
    THEN 1 ELSE 0 END AS behind
  FROM ordered
), paced AS (
  SELECT *, CASE WHEN sum(behind) OVER last_five = 5
    THEN try_sum(consumed) OVER last_five / 300 END AS pace
  FROM judged
  WINDOW last_five AS (
    PARTITION BY cluster, "group" ORDER BY second RANGE BETWEEN 240 PRECEDING AND CURRENT ROW
  )
), hours AS (
  SELECT cluster, "group", date_trunc('hour', "minute") AS hour, count(*) AS minutes,
    count(produced) AS produced_minutes, count(consumed) AS consumed_minutes,
    try_sum(produced) AS produced, try_sum(consumed) AS consumed, try_sum(rewound) AS rewound,
    max(produced) / 60 AS produce_peak, max(consumed) / 60 AS consume_peak,
    sum(behind) AS behind_minutes, max(pace) AS pace_behind, max_by(lag, "minute") AS lag_end,
    max(lag) AS lag_max, max(partitions) AS partitions
  FROM paced GROUP BY cluster, "group", date_trunc('hour', "minute")
)
SELECT *, produced / nullif(60 * produced_minutes, 0) AS produce_rate,
  consumed / nullif(60 * consumed_minutes, 0) AS consume_rate,
  CASE WHEN produced_minutes >= 30 THEN produced / (60 * produced_minutes) END AS busiest_hour_rate,
  CAST(hour AS DATE) AS date
FROM hours
