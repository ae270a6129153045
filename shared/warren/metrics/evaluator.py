"""Metrics of the evaluator."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from warren.metrics.family import DURATIONS

EVALUATOR = CollectorRegistry()

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
EVALUATOR_SKIPPED = Counter(
    "warren_evaluator_skipped_events",
    "Offset events that retention deleted before they could be judged",
    registry=EVALUATOR,
)
EVALUATOR_STATUS_CHANGES = Counter(
    "warren_evaluator_status_changes",
    "Status changes published, by the new status",
    ("status",),
    registry=EVALUATOR,
)
EVALUATOR_OBJECTIVE_CHANGES = Counter(
    "warren_evaluator_objective_changes",
    "Changes of freshness and retention published, by type and the new status",
    ("type", "status"),
    registry=EVALUATOR,
)
EVALUATOR_OBJECTIVE_BROKEN = Gauge(
    "warren_evaluator_objective_broken_timestamp_seconds",
    "Since when a group has not kept a limit of an objective, Unix seconds; absent where it does, "
    "or not for as long as `for` asks; of 10,000 groups of a worker at most",
    ("cluster", "group", "objective", "limit", "status"),
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
EVALUATOR_REPLAYED = Counter(
    "warren_evaluator_replayed_states",
    "Records of changelogs read after starts and rebalances: what others had written",
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
EVALUATOR_STALLED = Gauge(
    "warren_evaluator_stalled_seconds",
    "Seconds for which work has waited without any progress, by work; 0 when idle",
    ("work",),
    registry=EVALUATOR,
)
