"""Metrics of the collector."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from warren.metrics.family import DURATIONS

COLLECTOR = CollectorRegistry()

_CLUSTER = ("cluster",)
COLLECTOR_COMMITS = Counter(
    "warren_collector_commits",
    "Commits folded in that are published (those that only rebuild state are not counted)",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_SKIPPED = Counter(
    "warren_collector_skipped_records",
    "Records of the offsets topic of an unknown kind or version; value_version is empty where the "
    "key alone is unknown",
    (*_CLUSTER, "key_version", "value_version"),
    registry=COLLECTOR,
)
COLLECTOR_MALFORMED = Counter(
    "warren_collector_malformed_records",
    "Records of the offsets topic that contradict Kafka's schema, by the field that does",
    (*_CLUSTER, "field"),
    registry=COLLECTOR,
)
COLLECTOR_EVENTS = Counter(
    "warren_collector_events",
    "Offset events published and acknowledged",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_DEAD_LETTERS = Counter(
    "warren_collector_dead_letters",
    "Malformed records published to warren.dead-letters",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_FAILED_TICKS = Counter(
    "warren_collector_failed_ticks",
    "Ticks that were not published and are repeated, by what failed: log_ends, or publish where "
    "the home cluster did not acknowledge",
    (*_CLUSTER, "step"),
    registry=COLLECTOR,
)
COLLECTOR_SOURCE_FAILURES = Counter(
    "warren_collector_source_failures",
    "Times that a source that is asked (admin_api, zookeeper) did not answer; live_state: groups' "
    "members and states",
    (*_CLUSTER, "source"),
    registry=COLLECTOR,
)
COLLECTOR_RESTARTS = Counter(
    "warren_collector_restarts",
    "Times that a cluster's connections were built anew after a refusal or a fault",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_FAULTS = Counter(
    "warren_collector_faults",
    "Faults of Warren that ended the work on one cluster; it begins anew after 5 s",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_LOST_CLIENTS = Counter(
    "warren_collector_lost_clients",
    "Times that a client had lost all brokers of a cluster for good, though they answer, and all "
    "connections were built anew",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_TICK_SECONDS = Histogram(
    "warren_collector_tick_seconds",
    "Seconds to read the log ends and to publish what is due",
    _CLUSTER,
    buckets=DURATIONS,
    registry=COLLECTOR,
)
COLLECTOR_GROUPS = Gauge(
    "warren_collector_groups",
    "Consumer groups whose positions this collector holds",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_POSITIONS = Gauge(
    "warren_collector_positions",
    "Committed positions that this collector holds",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_UNKNOWN_ENDS = Gauge(
    "warren_collector_unknown_log_ends",
    "Partitions whose leader did not say where the log ends, at the last tick",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_PARTITIONS = Gauge(
    "warren_collector_source_partitions",
    "Partitions of the offsets topic that this collector owns",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_BEHIND = Gauge(
    "warren_collector_rebuild_records",
    "Offsets still to read until the state of newly owned partitions is rebuilt",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_PENDING = Gauge(
    "warren_collector_pending_commits",
    "Transactional commits that wait for the end of their transaction; they are not published",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_BACKLOG = Gauge(
    "warren_collector_backlog_records",
    "Offsets between what was read of the owned partitions of the offsets topic and their ends",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_LOG_ENDS_AGE = Gauge(
    "warren_collector_log_ends_age_seconds",
    "Seconds since the watched topics' log ends were read; NaN before the first time",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_CLUSTER_STATE = Gauge(
    "warren_collector_cluster_state",
    "1 for the state of the cluster: connecting, rebuilding, ok, partial, failing, refused or "
    "unreachable",
    (*_CLUSTER, "state"),
    registry=COLLECTOR,
)
COLLECTOR_FOREIGN_MEMBERS = Gauge(
    "warren_collector_foreign_members",
    "Members of the collectors' own group on the cluster that are of another Warren: they take "
    "partitions, whose groups are missing here",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_READY = Gauge(
    "warren_collector_ready",
    "1 while the state of all owned partitions is rebuilt, else 0",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_PUBLISHED_AT = Gauge(
    "warren_collector_published_timestamp_seconds",
    "When the last tick was published, Unix seconds: its age tells whether to believe the rest",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_SETTINGS_REFUSED = Gauge(
    "warren_collector_settings_refused",
    "1 while warren.toml was changed and cannot be used (the log says why), else 0",
    registry=COLLECTOR,
)
COLLECTOR_STALLED = Gauge(
    "warren_collector_stalled_seconds",
    "Seconds for which work has waited without any progress, by work; 0 when idle",
    ("work",),
    registry=COLLECTOR,
)
