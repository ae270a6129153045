-- When what is produced will be more than a group has shown that it can consume, for each day from the
-- 28 days up to it. The trend is that of Theil and Sen, the median of the slopes between all pairs of
-- days, which a third of odd days does not bend; its interval of 90 % (1.6449) is theirs too, by
-- Kendall's normal approximation.
WITH days AS (
  SELECT cluster, "group", date_trunc('day', hour) AS day,
    CAST(unix_millis(date_trunc('day', hour)) / 86400000 AS BIGINT) AS number,
    sum(minutes) AS minutes, max(busiest_hour_rate) AS busiest_hour_rate,
    max(produce_peak) AS produce_peak, max(consume_peak) AS consume_peak,
    max(pace_behind) AS pace_behind
  FROM rate_hours GROUP BY cluster, "group", date_trunc('day', hour)
), of_day AS (
  SELECT each.cluster, each."group", each.day, each.number - past.number AS age, past.minutes,
    past.busiest_hour_rate, past.produce_peak, past.consume_peak, past.pace_behind,
    max(past.minutes) OVER (PARTITION BY each.cluster, each."group", each.day) AS longest
  FROM days AS each JOIN days AS past
    ON each.cluster = past.cluster AND each."group" = past."group"
      AND past.number BETWEEN each.number - 27 AND each.number
), shown AS (
  SELECT cluster, "group", day, max(pace_behind) AS capacity,
    max(busiest_hour_rate) AS busiest_hour_rate_max, max(produce_peak) AS produce_peak_max,
    max(consume_peak) AS consume_peak_max
  FROM of_day GROUP BY cluster, "group", day
), whole AS (
  -- A day that has begun counts once it was observed for about as long as others: its busiest hour
  -- may be to come.
  SELECT cluster, "group", day, age, busiest_hour_rate,
    count(*) OVER (PARTITION BY cluster, "group", day) AS days
  FROM of_day
  WHERE busiest_hour_rate IS NOT NULL AND (age > 0 OR minutes >= 0.75 * longest)
), slopes AS (
  SELECT older.cluster, older."group", older.day, older.days,
    (newer.busiest_hour_rate - older.busiest_hour_rate) / (older.age - newer.age) AS slope
  FROM whole AS older JOIN whole AS newer
    ON older.cluster = newer.cluster AND older."group" = newer."group" AND older.day = newer.day
      AND older.age > newer.age
  WHERE older.days >= 3
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY cluster, "group", day ORDER BY slope) AS rank,
    count(*) OVER (PARTITION BY cluster, "group", day) AS pairs,
    1.6449 * sqrt(days * (days - 1) * (2 * days + 5) / 18) AS spread
  FROM slopes
), trends AS (
  SELECT cluster, "group", day, max(days) AS days, median(slope) AS slope,
    max(CASE WHEN rank = greatest(floor((pairs - spread) / 2), 1) THEN slope END) AS slope_low,
    max(CASE WHEN rank = least(ceil((pairs + spread) / 2) + 1, pairs) THEN slope END) AS slope_high
  FROM ranked GROUP BY cluster, "group", day
), levels AS (
  SELECT whole.cluster, whole."group", whole.day,
    median(whole.busiest_hour_rate + trends.slope * whole.age) AS level
  FROM whole JOIN trends
    ON whole.cluster = trends.cluster AND whole."group" = trends."group" AND whole.day = trends.day
  GROUP BY whole.cluster, whole."group", whole.day
), lefts AS (
  SELECT cluster, "group", date_trunc('day', hour) AS day, unix_millis(hour) AS at_ms,
    time_to_loss_end_ms AS left_ms
  FROM lateness_hours WHERE time_to_loss_end_ms IS NOT NULL
), falls AS (
  SELECT one.cluster, one."group", one.day,
    median((CAST(one.left_ms AS DOUBLE) - other.left_ms) / (other.at_ms - one.at_ms)) AS fall
  FROM lefts AS one JOIN lefts AS other
    ON one.cluster = other.cluster AND one."group" = other."group" AND one.day = other.day
      AND one.at_ms < other.at_ms
  GROUP BY one.cluster, one."group", one.day
), ends AS (
  SELECT cluster, "group", day, max_by(left_ms, at_ms) AS left_ms
  FROM lefts GROUP BY cluster, "group", day
), losses AS (
  SELECT cluster, "group", day, fall, left_ms / nullif(fall * 86400000, 0) AS days_left
  FROM ends JOIN falls USING (cluster, "group", day)
), found AS (
  SELECT *, (capacity - level) / nullif(slope, 0) AS crosses,
    (capacity - level) / nullif(slope_high, 0) AS earliest,
    (capacity - level) / nullif(slope_low, 0) AS latest
  FROM shown LEFT JOIN trends USING (cluster, "group", day)
    LEFT JOIN levels USING (cluster, "group", day) LEFT JOIN losses USING (cluster, "group", day)
), bounded AS (
  -- 0 where the trend has reached the capacity; null for never, or later than in ten years.
  SELECT *,
    CASE WHEN level >= capacity THEN 0 WHEN slope > 0 AND crosses <= 3650 THEN crosses END
      AS crosses_in_days,
    CASE WHEN level >= capacity THEN 0 WHEN slope_high > 0 AND earliest <= 3650 THEN earliest END
      AS earliest_in_days,
    CASE WHEN level >= capacity THEN 0 WHEN slope_low > 0 AND latest <= 3650 THEN latest END
      AS latest_in_days,
    CASE WHEN fall > 0 AND days_left <= 3650 THEN days_left END AS days_until_loss
  FROM found
)
SELECT *, CAST(day AS DATE) + CAST(ceil(crosses_in_days) AS INT) AS crosses_on,
  CAST(day AS DATE) + CAST(ceil(earliest_in_days) AS INT) AS earliest_on,
  CAST(day AS DATE) + CAST(ceil(latest_in_days) AS INT) AS latest_on, CAST(day AS DATE) AS date
FROM bounded
