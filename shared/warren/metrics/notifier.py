"""Metrics of the notifier."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from warren.metrics.family import DURATIONS

NOTIFIER = CollectorRegistry()

NOTIFIER_EVENTS = Counter(
    "warren_notifier_events",
    "Events read: routed, unrouted (no route wants it), withheld (its group flaps), "
    "history (before the first start), replayed (taken in before), "
    "refused (dead-lettered)",
    ("result",),
    registry=NOTIFIER,
)
for _result in (
    "routed",
    "unrouted",
    "withheld",
    "history",
    "replayed",
    "refused",
):
    NOTIFIER_EVENTS.labels(_result)  # from 0 on: no increase is seen of a series that begins at 1
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
    "For how long the oldest pending delivery of a channel has been due; 0 without one. What is "
    "told with others is due group_interval later",
    ("channel",),
    registry=NOTIFIER,
)
NOTIFIER_SILENCED = Gauge(
    "warren_notifier_silenced",
    "Deliveries of a channel that silences and mute windows put off; they are not pending",
    ("channel",),
    registry=NOTIFIER,
)
NOTIFIER_OPEN_INCIDENTS = Gauge(
    "warren_notifier_open_incidents",
    "Open incidents in the partitions of this notifier",
    registry=NOTIFIER,
)
NOTIFIER_STATES = Gauge(
    "warren_notifier_states",
    "Groups, by type of change, of which this notifier remembers something",
    registry=NOTIFIER,
)
NOTIFIER_STATE_BYTES = Gauge(
    "warren_notifier_state_bytes",
    "Bytes of their records on warren.notifier-state, which whoever takes over a partition reads",
    registry=NOTIFIER,
)
NOTIFIER_PARTITIONS = Gauge(
    "warren_notifier_partitions",
    "Partitions of warren.incidents that this notifier serves",
    registry=NOTIFIER,
)
NOTIFIER_STALLED = Gauge(
    "warren_notifier_stalled_seconds",
    "Seconds for which work has waited without any progress, by work; 0 when idle",
    ("work",),
    registry=NOTIFIER,
)
