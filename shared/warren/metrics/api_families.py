"""Series of the API that are made at scrape time from what it holds: groups and partitions.

Part of the metric catalogue, from which docs/metrics.md is generated.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """A gauge whose samples are made at scrape time from state that is there anyway."""

    name: str
    documentation: str
    labels: tuple[str, ...]


API_READY = Family(
    "warren_api_ready", "1 once the ends of Warren's topics seen at start have been passed", ()
)
API_FRESHNESS_TOPIC = Family(
    "warren_api_freshness_topic",
    "1 while warren.freshness is read, 0 while there is no such topic, or no right to read it",
    (),
)
API_FEED_WORKING = Family(
    "warren_api_feed_working", "1 while the home cluster can be read, 0 while it is away", ()
)
API_GROUPS = Family("warren_api_groups", "Consumer groups in the read model", ())
API_PARTITIONS = Family("warren_api_partitions", "Partitions of groups in the read model", ())

CLUSTER_STATE = Family(
    "warren_cluster_state",
    "1 for the state of a cluster as its collectors report it: unreachable, refused, failing, "
    "connecting, rebuilding, ok; unknown when none is heard of",
    ("cluster", "state"),
)

_BURROW_GROUP = ("cluster", "consumer_group")
_BURROW_PARTITION = (*_BURROW_GROUP, "topic", "partition")
BURROW_TOTAL_LAG = Family(
    "burrow_kafka_consumer_lag_total",
    "Sum of the lags of a group's partitions, records (as Burrow)",
    _BURROW_GROUP,
)
BURROW_STATUS = Family(
    "burrow_kafka_consumer_status",
    "Status of a group: 1 OK, 2 WARN, 3 ERR (as Burrow)",
    _BURROW_GROUP,
)
BURROW_PARTITION_STATUS = Family(
    "burrow_kafka_topic_partition_status",
    "Status of a partition whose window is full: 1 OK, 2 WARN, 4 STOP, 5 STALL, 6 REWIND "
    "(as Burrow)",
    _BURROW_PARTITION,
)
BURROW_CURRENT_OFFSET = Family(
    "burrow_kafka_consumer_current_offset",
    "Newest committed offset of a partition whose window is full (as Burrow)",
    _BURROW_PARTITION,
)
BURROW_PARTITION_LAG = Family(
    "burrow_kafka_consumer_partition_lag",
    "Records that a group is behind in a partition; 0 when unknown (as Burrow)",
    _BURROW_PARTITION,
)
BURROW_TOPIC_OFFSET = Family(
    "burrow_kafka_topic_partition_offset",
    "Log end offset of a partition that some group consumes (as Burrow)",
    ("cluster", "topic", "partition"),
)

_GROUP = ("cluster", "group")
GROUP_LAG = Family("warren_group_lag", "Sum of the known lags of a group, records", _GROUP)
GROUP_STATUS = Family(
    "warren_group_status",
    "1 for the status that a group has, 0 for the others",
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

GROUP_FRESHNESS = Family(
    "warren_group_freshness_seconds",
    "Age of the oldest record that a group has not consumed, of its latest partition whose age is "
    "known; 0 caught up; absent while none is known",
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
GROUP_LOST_RECORDS = Family(
    "warren_group_lost_records", "Offsets deleted before a group consumed them", _GROUP
)
GROUP_FRESHNESS_MEASURED = Family(
    "warren_group_freshness_measured_timestamp_seconds",
    "When a group's freshness was last measured, Unix seconds: its age tells whether to believe it",
    _GROUP,
)

_PARTITION = (*_GROUP, "topic", "partition")
PARTITION_FRESHNESS = Family(
    "warren_partition_freshness_seconds",
    "Age of the oldest record that a group has not consumed; 0 caught up; absent while unknown",
    _PARTITION,
)
PARTITION_TIME_TO_LOSS = Family(
    "warren_partition_time_to_loss_seconds",
    "Until retention may delete the oldest record that a group has not consumed, at least",
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
# teslamotors/kafka-helmsman, FreshnessMetrics.java: existing dashboards and alerts keep working.
TESLA_FRESHNESS = Family(
    "kafka_consumer_freshness_ms",
    "Age of the oldest record that a group has not consumed, milliseconds (as Tesla's Consumer "
    "Freshness Tracker)",
    ("cluster", "consumer", "topic", "partition"),
)

API_FAMILIES: tuple[Family, ...] = (
    API_READY,
    API_FRESHNESS_TOPIC,
    API_FEED_WORKING,
    API_GROUPS,
    API_PARTITIONS,
    CLUSTER_STATE,
    BURROW_TOTAL_LAG,
    BURROW_STATUS,
    BURROW_PARTITION_STATUS,
    BURROW_CURRENT_OFFSET,
    BURROW_PARTITION_LAG,
    BURROW_TOPIC_OFFSET,
    GROUP_LAG,
    GROUP_STATUS,
    GROUP_PARTITIONS,
    GROUP_OPEN_INCIDENT,
    GROUP_EVALUATED,
    GROUP_FRESHNESS,
    GROUP_FRESHNESS_UNKNOWN,
    GROUP_TIME_TO_LOSS,
    GROUP_LOST_RECORDS,
    GROUP_FRESHNESS_MEASURED,
    PARTITION_FRESHNESS,
    PARTITION_TIME_TO_LOSS,
    PARTITION_COMMIT_LAG,
    PARTITION_APPEND_LAG,
    TESLA_FRESHNESS,
)
