-- States of groups, each once, and what differs from the one before. A group's end has no members.
WITH told AS (
  SELECT *, array_sort(members[*].member_id) AS ids FROM events
), every AS (
  SELECT cluster, "group", happened AS "at", coalesce(position, -1) AS position, deleted, protocol,
    state, nullif(generation, -1) AS generation, rebalances, coalesce(ids, []) AS members,
    idle_members,
    size(flatten(map_values(unowned))) AS unowned_partitions, assignment_skew,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM told WHERE "group" IS NOT NULL
  UNION ALL
  SELECT cluster, "group", "at", position, deleted, protocol, state, generation, rebalances, members,
    idle_members, unowned_partitions, assignment_skew,
    kafka_topic, kafka_topic_id, kafka_partition, kafka_offset, kafka_timestamp
  FROM stored
), numbered AS (
  SELECT *, row_number() OVER (
    PARTITION BY cluster, "group", "at", position
    ORDER BY kafka_timestamp, kafka_topic_id, kafka_partition, kafka_offset
  ) AS number
  FROM every
), ordered AS (
  SELECT *, lag(state) OVER in_order AS previous_state,
    coalesce(lag(members) OVER in_order, []) AS members_before
  FROM numbered WHERE number = 1
  WINDOW in_order AS (PARTITION BY cluster, "group" ORDER BY "at", position)
)
SELECT *, array_except(members, members_before) AS joined,
  array_except(members_before, members) AS "left", CAST("at" AS DATE) AS date
FROM ordered
