"""Series of the API that are made at scrape time from what it holds: groups and partitions.

Part of the metric catalogue, from which docs/metrics.md is generated.
"""

from warren.metrics.adopted_families import ADOPTED_FAMILIES
from warren.metrics.family import Family

API_READY = Family(
    "warren_api_ready", "1 once the ends of Warren's topics seen at start have been passed", ()
)
API_FEED_WORKING = Family(
    "warren_api_feed_working", "1 while the home cluster can be read, 0 while it is away", ()
)
API_GROUPS = Family("warren_api_groups", "Consumer groups in the read model", ())
API_PARTITIONS = Family("warren_api_partitions", "Partitions of groups in the read model", ())

CLUSTER_STATE = Family(
    "warren_cluster_state",
    "1 for the state of a cluster as its collectors report it: unreachable, refused, failing, "
    "partial, connecting, rebuilding, ok; unknown when none is heard of",
    ("cluster", "state"),
)

_GROUP = ("cluster", "group")
GROUP_LAG = Family(
    "warren_group_lag",
    "Sum of the lags of a group, records; at least, where some log end is unknown",
    _GROUP,
)
GROUP_STATUS = Family(
    "warren_group_status",
    "1 for the status that a group has, 0 for the others; UNKNOWN: it was not judged lately, or "
    "its cluster cannot be read",
    (*_GROUP, "status"),
)
GROUP_PARTITIONS = Family(
    "warren_group_partitions", "Partitions of a group by status", (*_GROUP, "status")
)
GROUP_OPEN_INCIDENT = Family(
    "warren_group_open_incident_seconds",
    "Seconds since a group's open incident began; absent without one",
    _GROUP,
)
GROUP_EVALUATED = Family(
    "warren_group_evaluated_timestamp_seconds",
    "When a group was last judged, Unix seconds: its age tells whether to believe the rest",
    _GROUP,
)

_TOPIC = (*_GROUP, "topic")
TOPIC_LAG = Family(
    "warren_topic_lag",
    "Sum of the lags of a group in a topic, records; absent where some log end is unknown",
    _TOPIC,
)
TOPIC_FRESHNESS = Family(
    "warren_topic_freshness_seconds",
    "Age of the oldest record that a group has not consumed in a topic, of its latest partition, "
    "or what it is at least; 0 caught up; absent while neither is known",
    _TOPIC,
)

GROUP_FRESHNESS = Family(
    "warren_group_freshness_seconds",
    "Age of the oldest record that a group has not consumed, of its latest partition, or what it "
    "is at least (retention deleted it, or it could not be read); 0 caught up; absent while "
    "neither is known",
    _GROUP,
)
GROUP_FRESHNESS_UNKNOWN = Family(
    "warren_group_freshness_unknown_partitions",
    "Partitions with a commit whose freshness could not be measured; 0: the others are all",
    _GROUP,
)
GROUP_TIME_TO_LOSS = Family(
    "warren_group_time_to_loss_seconds",
    "Until retention may delete what a group has not consumed, at least, of its most endangered "
    "partition; absent when nothing is, or that is unknown",
    _GROUP,
)
GROUP_RUNNING_OUT = Family(
    "warren_group_running_out_seconds",
    "The same, of partitions that stand still, or have half or less of their retention left. To "
    "alert on: where records are kept for an hour, loss is never further away. Absent when there "
    "is none",
    _GROUP,
)
GROUP_LOST_RECORDS = Family(
    "warren_group_lost_records", "Offsets deleted before a group consumed them", _GROUP
)
GROUP_FRESHNESS_MEASURED = Family(
    "warren_group_freshness_measured_timestamp_seconds",
    "When a group's freshness was last measured, Unix seconds: its age tells whether to believe it",
    _GROUP,
)
GROUP_PRODUCE_RATE = Family(
    "warren_group_produce_rate",
    "Records a second that are appended to what a group consumes, over about the last minute; "
    "absent while unknown",
    _GROUP,
)
GROUP_CONSUME_RATE = Family(
    "warren_group_consume_rate",
    "Records a second that a group commits, likewise",
    _GROUP,
)
GROUP_TIME_TO_CATCH_UP = Family(
    "warren_group_time_to_catch_up_seconds",
    "Until a group's slowest partition has caught up if rates stay as they are; 0 when all have; "
    "absent when one never will, or that is unknown",
    _GROUP,
)
TOPIC_PRODUCE_RATE = Family(
    "warren_topic_produce_rate",
    "Records a second that are appended to the partitions of a topic that a group consumes, over "
    "about the last minute; absent while unknown",
    _TOPIC,
)
TOPIC_CONSUME_RATE = Family(
    "warren_topic_consume_rate",
    "Records a second that a group commits in a topic, likewise",
    _TOPIC,
)

_PARTITION = (*_TOPIC, "partition")
PARTITION_LAG = Family(
    "warren_partition_lag",
    "Records that a group is behind in a partition; absent while unknown",
    _PARTITION,
)
PARTITION_FRESHNESS = Family(
    "warren_partition_freshness_seconds",
    "Age of the oldest record that a group has not consumed, or what it is at least; 0 caught up; "
    "absent while neither is known",
    _PARTITION,
)
PARTITION_TIME_TO_LOSS = Family(
    "warren_partition_time_to_loss_seconds",
    "Until retention may delete the oldest record that a group has not consumed, at least",
    _PARTITION,
)
PARTITION_RETENTION_LEFT = Family(
    "warren_partition_retention_left_ratio",
    "How much of the limit (retention.ms or retention.bytes) is left until then, 1 to 0",
    _PARTITION,
)
PARTITION_COMMIT_LAG = Family(
    "warren_partition_commit_lag_seconds",
    "Commit time - append time of the last committed record; sampled, stands still when the "
    "consumer is stuck: do not alert on it",
    _PARTITION,
)
PARTITION_APPEND_LAG = Family(
    "warren_partition_append_lag_seconds",
    "Append time of the log's newest record - that of the last committed one; sampled, jumps on "
    "quiet topics: do not alert on it",
    _PARTITION,
)

API_FAMILIES: tuple[Family, ...] = (
    API_READY,
    API_FEED_WORKING,
    API_GROUPS,
    API_PARTITIONS,
    CLUSTER_STATE,
    GROUP_LAG,
    GROUP_STATUS,
    GROUP_PARTITIONS,
    GROUP_OPEN_INCIDENT,
    GROUP_EVALUATED,
    TOPIC_LAG,
    PARTITION_LAG,
    GROUP_FRESHNESS,
    GROUP_FRESHNESS_UNKNOWN,
    GROUP_TIME_TO_LOSS,
    GROUP_RUNNING_OUT,
    GROUP_LOST_RECORDS,
    GROUP_FRESHNESS_MEASURED,
    GROUP_PRODUCE_RATE,
    GROUP_CONSUME_RATE,
    GROUP_TIME_TO_CATCH_UP,
    TOPIC_FRESHNESS,
    TOPIC_PRODUCE_RATE,
    TOPIC_CONSUME_RATE,
    PARTITION_FRESHNESS,
    PARTITION_TIME_TO_LOSS,
    PARTITION_RETENTION_LEFT,
    PARTITION_COMMIT_LAG,
    PARTITION_APPEND_LAG,
    *ADOPTED_FAMILIES,
)
