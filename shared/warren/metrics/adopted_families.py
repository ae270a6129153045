"""Families with the names and labels of other tools, so that their dashboards and alerts go on.

Part of the metric catalogue, from which docs/metrics.md is generated.
"""

from warren.metrics.family import Family

# linkedin/Burrow 1.9.5, core/internal/httpserver/prometheus.go
_BURROW_GROUP = ("cluster", "consumer_group")
_BURROW_PARTITION = (*_BURROW_GROUP, "topic", "partition")
BURROW_TOTAL_LAG = Family(
    "burrow_kafka_consumer_lag_total",
    "Sum of the lags of a group's partitions, records (as Burrow)",
    _BURROW_GROUP,
    origin="burrow",
    type="untyped",  # a gauge in Burrow; but then promtool refuses a name that ends in _total
)
BURROW_STATUS = Family(
    "burrow_kafka_consumer_status",
    "Status of a group: 1 OK, 2 WARN, 3 ERR (as Burrow)",
    _BURROW_GROUP,
    origin="burrow",
)
BURROW_PARTITION_STATUS = Family(
    "burrow_kafka_topic_partition_status",
    "Status of a partition whose window is full: 1 OK, 2 WARN, 4 STOP, 5 STALL, 6 REWIND "
    "(as Burrow)",
    _BURROW_PARTITION,
    origin="burrow",
)
BURROW_CURRENT_OFFSET = Family(
    "burrow_kafka_consumer_current_offset",
    "Newest committed offset of a partition whose window is full (as Burrow)",
    _BURROW_PARTITION,
    origin="burrow",
)
BURROW_PARTITION_LAG = Family(
    "burrow_kafka_consumer_partition_lag",
    "Records that a group is behind in a partition; 0 when unknown (as Burrow)",
    _BURROW_PARTITION,
    origin="burrow",
)
BURROW_TOPIC_OFFSET = Family(
    "burrow_kafka_topic_partition_offset",
    "Log end offset of a partition, consumed or not (as Burrow)",
    ("cluster", "topic", "partition"),
    origin="burrow",
)

# seglo/kafka-lag-exporter 0.8.2, Metrics.scala. Its README names one label more for the two
# maxima, is_simple_consumer; its code has none.
_EXPORTER_GROUP = ("cluster_name", "group")
_EXPORTER_LOG = ("cluster_name", "topic", "partition")
_EXPORTER_PARTITION = (
    *_EXPORTER_GROUP,
    "topic",
    "partition",
    "member_host",
    "consumer_id",
    "client_id",
)
EXPORTER_LATEST_OFFSET = Family(
    "kafka_partition_latest_offset",
    "Log end offset of a partition that some group consumes (as Kafka Lag Exporter)",
    _EXPORTER_LOG,
    origin="kafka_lag_exporter",
)
EXPORTER_EARLIEST_OFFSET = Family(
    "kafka_partition_earliest_offset",
    "Log start offset of a partition that some group consumes (as Kafka Lag Exporter)",
    _EXPORTER_LOG,
    origin="kafka_lag_exporter",
)
EXPORTER_OFFSET = Family(
    "kafka_consumergroup_group_offset",
    "Committed offset of a group in a partition (as Kafka Lag Exporter)",
    _EXPORTER_PARTITION,
    origin="kafka_lag_exporter",
)
EXPORTER_LAG = Family(
    "kafka_consumergroup_group_lag",
    "Records that a group is behind in a partition; absent while unknown (as Kafka Lag Exporter)",
    _EXPORTER_PARTITION,
    origin="kafka_lag_exporter",
)
EXPORTER_LAG_SECONDS = Family(
    "kafka_consumergroup_group_lag_seconds",
    "Age of the oldest record that a group has not consumed, read from the log where Kafka Lag "
    "Exporter estimates it, or what it is at least; 0 caught up; absent while neither is known "
    "(as Kafka Lag Exporter)",
    _EXPORTER_PARTITION,
    origin="kafka_lag_exporter",
)
EXPORTER_MAX_LAG = Family(
    "kafka_consumergroup_group_max_lag",
    "Largest known lag of a group's partitions, records (as Kafka Lag Exporter)",
    _EXPORTER_GROUP,
    origin="kafka_lag_exporter",
)
EXPORTER_MAX_LAG_SECONDS = Family(
    "kafka_consumergroup_group_max_lag_seconds",
    "Age of the oldest record that a group has not consumed in any partition, or what it is at "
    "least (as Kafka Lag Exporter)",
    _EXPORTER_GROUP,
    origin="kafka_lag_exporter",
)
EXPORTER_SUM_LAG = Family(
    "kafka_consumergroup_group_sum_lag",
    "Sum of the known lags of a group's partitions, records (as Kafka Lag Exporter)",
    _EXPORTER_GROUP,
    origin="kafka_lag_exporter",
)
EXPORTER_TOPIC_SUM_LAG = Family(
    "kafka_consumergroup_group_topic_sum_lag",
    "Sum of the known lags of a group in a topic, records (as Kafka Lag Exporter)",
    (*_EXPORTER_GROUP, "topic"),
    origin="kafka_lag_exporter",
)

# teslamotors/kafka-helmsman, FreshnessMetrics.java
TESLA_FRESHNESS = Family(
    "kafka_consumer_freshness_ms",
    "Age of the oldest record that a group has not consumed, or what it is at least, milliseconds "
    "(as Tesla's Consumer Freshness Tracker)",
    ("cluster", "consumer", "topic", "partition"),
    origin="tesla",
)

ADOPTED_FAMILIES: tuple[Family, ...] = (
    BURROW_TOTAL_LAG,
    BURROW_STATUS,
    BURROW_PARTITION_STATUS,
    BURROW_CURRENT_OFFSET,
    BURROW_PARTITION_LAG,
    BURROW_TOPIC_OFFSET,
    EXPORTER_SUM_LAG,
    EXPORTER_MAX_LAG,
    EXPORTER_MAX_LAG_SECONDS,
    EXPORTER_TOPIC_SUM_LAG,
    EXPORTER_OFFSET,
    EXPORTER_LAG,
    EXPORTER_LAG_SECONDS,
    EXPORTER_LATEST_OFFSET,
    EXPORTER_EARLIEST_OFFSET,
    TESLA_FRESHNESS,
)
