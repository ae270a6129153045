-- How late each group was with a topic: the last measurement of a minute, and the greatest in it. Where
-- the record is gone, what it is at least.
WITH topics AS (
  SELECT *, explode(map_entries(topics)) AS entry FROM events WHERE NOT deleted
), lists AS (
  SELECT *, entry.key AS topic, entry.value AS list,
    explode(sequence(1, size(entry.value.partition), 1)) AS number
  FROM topics WHERE size(entry.value.partition) > 0
), single AS (
  SELECT *, try_element_at(list.freshness_ms, number) AS known_ms,
    coalesce(try_element_at(list.freshness_ms, number), try_element_at(list.bound_ms, number)) AS late_ms,
    try_element_at(list.lost_records, number) AS lost,
    try_element_at(list.time_to_loss_ms, number) AS left_ms,
    try_element_at(list.produce_rate, number) AS rate
  FROM lists
), every AS (
  SELECT cluster, "group", topic, date_trunc('minute', happened) AS "minute", happened AS "at",
    max(late_ms) AS late_ms, max(late_ms) AS late_max_ms,
    count(*) - count(known_ms) AS unknown_partitions, try_sum(coalesce(lost, 0)) AS lost_records,
    min(left_ms) AS time_to_loss_ms, sum(rate) AS produce_rate,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM single
  GROUP BY cluster, "group", topic, date_trunc('minute', happened), happened,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
), ordered AS (
  SELECT *, max(late_max_ms) OVER (PARTITION BY cluster, "group", topic, "minute") AS greatest_ms,
    row_number() OVER (
      PARTITION BY cluster, "group", topic, "minute"
      ORDER BY "at" DESC, kafka_timestamp DESC, kafka_topic_id DESC, kafka_partition DESC,
        kafka_offset DESC
    ) AS number
  FROM every
)
SELECT cluster, "group", topic, "minute", "at", late_ms, greatest_ms AS late_max_ms,
  unknown_partitions, lost_records, time_to_loss_ms, produce_rate,
  kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp,
  CAST("minute" AS DATE) AS date
FROM ordered WHERE number = 1
