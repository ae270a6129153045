"""Metrics of the freshness."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from warren.metrics.family import DURATIONS

FRESHNESS = CollectorRegistry()

FRESHNESS_EVENTS = Counter(
    "warren_freshness_events",
    "Offset events read: applied, duplicate, foreign (of a cluster that is not configured), "
    "refused (dead-lettered)",
    ("result",),
    registry=FRESHNESS,
)
for _result in ("applied", "duplicate", "foreign", "refused"):
    FRESHNESS_EVENTS.labels(_result)  # from 0 on: no increase is seen of a series that begins at 1
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
    "Bytes that came over the sockets from a cluster's brokers, answers that nobody waited for "
    "any more included",
    ("cluster",),
    registry=FRESHNESS,
)
FRESHNESS_ROUND_PASSES = Gauge(
    "warren_freshness_round_passes",
    "Passes within which each partition is read once, at the pace of the last ones: nobody waits "
    "longer where freshness.pass_bytes is too small for all, or the cluster too slow",
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
FRESHNESS_STALLED = Gauge(
    "warren_freshness_stalled_seconds",
    "Seconds for which work has waited without any progress, by work; 0 when idle",
    ("work",),
    registry=FRESHNESS,
)
