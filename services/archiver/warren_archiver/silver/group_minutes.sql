-- Each group in a minute: sums over its partitions that were observed then.
SELECT cluster, "group", "minute", count(DISTINCT topic) AS topics, count(*) AS partitions,
  try_sum(commits) AS commits, try_sum(lag) AS lag, max(lag_max) AS lag_max,
  try_sum(produced) AS produced, try_sum(consumed) AS consumed, try_sum(rewound) AS rewound,
  CAST("minute" AS DATE) AS date
FROM partition_minutes GROUP BY cluster, "group", "minute"
