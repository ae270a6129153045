"""The metric catalogue: every metric of every service, typed, in one place.

Each service has a registry of its own, so that it exposes its own metrics only. docs/metrics.md
is generated from here.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from warren.api_families import API_FAMILIES, Family

DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

COLLECTOR = CollectorRegistry()
EVALUATOR = CollectorRegistry()
FRESHNESS = CollectorRegistry()
ARCHIVER = CollectorRegistry()
API = CollectorRegistry()
NOTIFIER = CollectorRegistry()

REGISTRIES = {
    "collector": COLLECTOR,
    "evaluator": EVALUATOR,
    "freshness": FRESHNESS,
    "archiver": ARCHIVER,
    "api": API,
    "notifier": NOTIFIER,
}


# --- collector ------------------------------------------------------------------------------------

_CLUSTER = ("cluster",)
COLLECTOR_COMMITS = Counter(
    "warren_collector_commits",
    "Commits folded in that are published (those that only rebuild state are not counted)",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_DELETIONS = Counter(
    "warren_collector_deletions",
    "Deletions of committed offsets folded in",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_DENIED = Counter(
    "warren_collector_denied_records",
    "Records of groups that groups_allow and groups_deny keep out",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_SKIPPED = Counter(
    "warren_collector_skipped_records",
    "Records of the offsets topic that are not offset commits, by key version",
    (*_CLUSTER, "key_version"),
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
    "Ticks that were not published and are repeated, by what failed: log_ends or publish",
    (*_CLUSTER, "step"),
    registry=COLLECTOR,
)
COLLECTOR_STORE_FAILURES = Counter(
    "warren_collector_store_failures",
    "Positions in the offsets topic that could not be committed",
    _CLUSTER,
    registry=COLLECTOR,
)
COLLECTOR_RESTARTS = Counter(
    "warren_collector_restarts",
    "Times that a cluster's connections were built anew because the cluster refused something",
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

# --- evaluator ------------------------------------------------------------------------------------

EVALUATOR_EVENTS = Counter(
    "warren_evaluator_events",
    "Offset events processed, duplicates and refused ones included",
    registry=EVALUATOR,
)
EVALUATOR_DUPLICATES = Counter(
    "warren_evaluator_duplicates",
    "Offset events ignored because they, or newer ones, were applied before",
    registry=EVALUATOR,
)
EVALUATOR_DEAD_LETTERS = Counter(
    "warren_evaluator_dead_letters",
    "Offset events that contradict their contract and went to warren.dead-letters",
    registry=EVALUATOR,
)
EVALUATOR_STATUS_CHANGES = Counter(
    "warren_evaluator_status_changes",
    "Status changes published, by the new status",
    ("status",),
    registry=EVALUATOR,
)
EVALUATOR_PARTITIONS = Counter(
    "warren_evaluator_partitions",
    "Partitions judged, one per partition and evaluation",
    registry=EVALUATOR,
)
EVALUATOR_DISCARDED_STATES = Counter(
    "warren_evaluator_discarded_states",
    "Table values that could not be read: their groups' windows began anew",
    registry=EVALUATOR,
)
EVALUATOR_BATCH_SECONDS = Histogram(
    "warren_evaluator_batch_seconds",
    "Seconds from the first event of a batch to the last acknowledgement",
    buckets=DURATIONS,
    registry=EVALUATOR,
)
EVALUATOR_GROUPS = Gauge(
    "warren_evaluator_groups",
    "Groups that this worker judges, by status: those not OK have an open incident",
    ("status",),
    registry=EVALUATOR,
)

# --- freshness ------------------------------------------------------------------------------------

FRESHNESS_EVENTS = Counter(
    "warren_freshness_events",
    "Offset events read: applied, duplicate, foreign (of a cluster that is not configured), "
    "refused (dead-lettered)",
    ("result",),
    registry=FRESHNESS,
)
FRESHNESS_PASSES = Counter(
    "warren_freshness_passes",
    "Passes over a cluster's groups: published, or failed (nothing was published)",
    ("cluster", "result"),
    registry=FRESHNESS,
)
FRESHNESS_PASS_SECONDS = Histogram(
    "warren_freshness_pass_seconds",
    "Seconds that a pass took, publishing included",
    ("cluster",),
    buckets=DURATIONS,
    registry=FRESHNESS,
)
FRESHNESS_READS = Counter(
    "warren_freshness_reads",
    "Positions read from a cluster: record, none (nothing but control or aborted records), "
    "corrupt, not_authorised, unread (time or bytes of the pass were used up, or no leader "
    "answered)",
    ("cluster", "outcome"),
    registry=FRESHNESS,
)
FRESHNESS_READ_BYTES = Counter(
    "warren_freshness_read_bytes",
    "Bytes of record batches read from a cluster",
    ("cluster",),
    registry=FRESHNESS,
)
FRESHNESS_LOOKUPS = Counter(
    "warren_freshness_lookups",
    "Positions looked up, by where their record time was: memory, redis, log (had to be read)",
    ("cluster", "found"),
    registry=FRESHNESS,
)
FRESHNESS_REDIS_UP = Gauge(
    "warren_freshness_redis_up",
    "1 while Redis answers; 0: record times are read from the logs instead",
    registry=FRESHNESS,
)
FRESHNESS_PARTITIONS = Gauge(
    "warren_freshness_partitions",
    "Partitions of groups in the last pass, by reason of their value",
    ("cluster", "reason"),
    registry=FRESHNESS,
)
FRESHNESS_STALE_GROUPS = Gauge(
    "warren_freshness_stale_groups",
    "Groups without an offset event for three heartbeats: is the collector running?",
    ("cluster",),
    registry=FRESHNESS,
)

# --- notifier -------------------------------------------------------------------------------------

NOTIFIER_EVENTS = Counter(
    "warren_notifier_events",
    "Events read: routed, unrouted (no route wants it), foreign (a type it does not know), history "
    "(before the first start), replayed (taken in before), refused (dead-lettered)",
    ("result",),
    registry=NOTIFIER,
)
NOTIFIER_DELIVERIES = Counter(
    "warren_notifier_deliveries",
    "Attempts and ends of deliveries, by channel and outcome as on warren.notifications",
    ("channel", "outcome"),
    registry=NOTIFIER,
)
NOTIFIER_ATTEMPT_SECONDS = Histogram(
    "warren_notifier_attempt_seconds",
    "Seconds that an attempt took",
    ("channel",),
    buckets=DURATIONS,
    registry=NOTIFIER,
)
NOTIFIER_PENDING = Gauge(
    "warren_notifier_pending",
    "Deliveries of a channel that have not come to their end",
    ("channel",),
    registry=NOTIFIER,
)
NOTIFIER_OLDEST_PENDING = Gauge(
    "warren_notifier_oldest_pending_seconds",
    "Age of the oldest pending delivery of a channel; 0 without one",
    ("channel",),
    registry=NOTIFIER,
)
NOTIFIER_OPEN_INCIDENTS = Gauge(
    "warren_notifier_open_incidents",
    "Open incidents in the partitions of this notifier",
    registry=NOTIFIER,
)
NOTIFIER_PARTITIONS = Gauge(
    "warren_notifier_partitions",
    "Partitions of warren.lag-status that this notifier serves",
    registry=NOTIFIER,
)

# --- archiver -------------------------------------------------------------------------------------

ARCHIVER_ROWS = Counter(
    "warren_archiver_rows",
    "Rows written to bronze tables, by topic; rows of a batch that is repeated after a crash are "
    "counted again",
    ("topic",),
    registry=ARCHIVER,
)
ARCHIVER_QUARANTINED = Counter(
    "warren_archiver_quarantined",
    "Records that contradict their contract and went to the quarantine table, by topic",
    ("topic",),
    registry=ARCHIVER,
)
ARCHIVER_BATCH_SECONDS = Histogram(
    "warren_archiver_batch_seconds",
    "Seconds to write a batch, by topic",
    ("topic",),
    buckets=(0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0),
    registry=ARCHIVER,
)
ARCHIVER_BATCH_TIMESTAMP = Gauge(
    "warren_archiver_batch_timestamp_seconds",
    "When a batch of a topic was last written, Unix seconds; absent before the first one",
    ("topic",),
    registry=ARCHIVER,
)
ARCHIVER_BEHIND = Gauge(
    "warren_archiver_behind_records",
    "Offsets between the archived end and the end of the topic, when a batch was last written",
    ("topic",),
    registry=ARCHIVER,
)
ARCHIVER_FAILURES = Counter(
    "warren_archiver_failures",
    "How often a topic's query failed and was started again",
    ("topic",),
    registry=ARCHIVER,
)

# --- api ------------------------------------------------------------------------------------------

API_REQUESTS = Counter(
    "warren_api_requests",
    "HTTP requests answered, by route, method and status code",
    ("route", "method", "code"),
    registry=API,
)
API_REQUEST_SECONDS = Histogram(
    "warren_api_request_seconds",
    "Seconds until an HTTP request was answered",
    ("route",),
    buckets=DURATIONS,
    registry=API,
)
API_EVENTS_APPLIED = Counter(
    "warren_api_events_applied",
    "Events taken into the read model; while catching up only the newest per group",
    ("topic",),
    registry=API,
)
API_EVENTS_REFUSED = Counter(
    "warren_api_events_refused",
    "Events that contradict their contract and were ignored",
    ("topic",),
    registry=API,
)

__all__ = [
    "API",
    "API_FAMILIES",
    "ARCHIVER",
    "COLLECTOR",
    "DURATIONS",
    "EVALUATOR",
    "FRESHNESS",
    "NOTIFIER",
    "REGISTRIES",
    "Counter",
    "Family",
    "Gauge",
    "Histogram",
]
