-- Each topic in a minute: where its logs ended, as it was told last, and what they grew by since the
-- minute before that is known. A partition that was not there before has all that it has since.
WITH told AS (
  SELECT cluster, happened, explode(map_entries(log_ends)) AS entry FROM events WHERE NOT deleted
), every AS (
  SELECT cluster, entry.key AS topic, date_trunc('minute', happened) AS "minute", happened AS "at",
    entry.value AS ends
  FROM told
), once AS (
  SELECT cluster, topic, "minute", max("at") AS "at", max_by(ends, struct("at", ends)) AS ends
  FROM every GROUP BY cluster, topic, "minute"
), ordered AS (
  SELECT *, lag("at") OVER in_order AS at_before, lag(ends) OVER in_order AS ends_before
  FROM once WINDOW in_order AS (PARTITION BY cluster, topic ORDER BY "minute")
), numbered AS (
  SELECT *, unix_millis("at") - unix_millis(at_before) AS elapsed,
    explode(sequence(1, size(ends), 1)) AS number
  FROM ordered WHERE size(ends) > 0
), single AS (
  SELECT *, try_element_at(ends, number) AS log_end,
    try_element_at(ends_before, number) AS end_before
  FROM numbered
), grown AS (
  SELECT *, CASE WHEN log_end >= 0 THEN 1 ELSE 0 END AS known,
    CASE WHEN log_end >= 0 THEN log_end ELSE 0 END AS here,
    CASE WHEN log_end >= 0 AND end_before IS NULL THEN log_end
      WHEN end_before >= 0 AND log_end > end_before THEN log_end - end_before ELSE 0 END AS growth
  FROM single
), summed AS (
  SELECT cluster, topic, "minute", "at", ends, elapsed, sum(known) AS partitions,
    try_sum(here) AS log_end, try_sum(growth) AS growth
  FROM grown GROUP BY cluster, topic, "minute", "at", ends, elapsed
)
SELECT cluster, topic, "minute", "at", partitions, log_end,
  CASE WHEN elapsed <= :single_ms THEN growth END AS produced,
  CASE WHEN elapsed <= :single_ms THEN elapsed END AS elapsed_ms, CAST("minute" AS DATE) AS date
FROM summed
