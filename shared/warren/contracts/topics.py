"""The topic catalogue: every topic of Warren's, and how it is configured."""

from dataclasses import dataclass

from warren.contracts.cluster_event import ClusterEvent
from warren.contracts.dead_letter import DeadLetter
from warren.contracts.event import MOST_BYTES, Event
from warren.contracts.freshness_event import FreshnessEvent
from warren.contracts.group_event import GroupEvent
from warren.contracts.group_incident import GroupIncidentEvent
from warren.contracts.lag_event import LagEvent
from warren.contracts.notification_event import NotificationEvent, NotificationTest
from warren.contracts.notifier_state import NotifierState
from warren.contracts.offset_event import OffsetEvent
from warren.contracts.silence import Acknowledgement, Silence
from warren.contracts.status_change import StatusChangeEvent
from warren.contracts.topics_event import TopicsEvent
from warren.contracts.trend_event import TrendEvent

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
ARCHIVER_AWAY_MS = DAY_MS
"""The archiver may be away for so long and loses nothing."""
MAX_MESSAGE_BYTES = MOST_BYTES


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic. `retention_ms` is None where compaction alone decides."""

    event: type[Event]
    key: str
    compacted: bool
    retention_ms: int | None
    summary: str
    is_archived: bool = True
    """Whether it tells of what happened."""
    history_ms: int = ARCHIVER_AWAY_MS
    """For so long nothing is compacted away."""

    @property
    def name(self) -> str:
        """Name without the prefix."""
        return self.event.topic_name

    def full_name(self, prefix: str) -> str:
        return prefix + self.name

    def config(self) -> dict[str, str]:
        """Topic configuration as Kafka names it."""
        policies = [
            *(["compact"] if self.compacted else []),
            *(["delete"] if self.retention_ms is not None else []),
        ]
        config = {
            "cleanup.policy": ",".join(policies),
            "compression.type": "producer",
            "max.message.bytes": str(MAX_MESSAGE_BYTES),
        }
        if self.retention_ms is not None:
            config["retention.ms"] = str(self.retention_ms)
        if self.compacted:
            # An eager cleaner: a reader rebuilds its state from few records. Not of the newest
            # day's, though, or some would be gone before an archiver that was away has them.
            config |= {
                "segment.ms": str(HOUR_MS),
                "min.cleanable.dirty.ratio": "0.2",
                "min.compaction.lag.ms": str(self.history_ms),
                "max.compaction.lag.ms": str(self.history_ms + 2 * HOUR_MS),
            }
        return config


GROUP_KEY = "cluster|group"

OFFSETS = Topic(OffsetEvent, GROUP_KEY, False, DAY_MS, "normalized offset events")
GROUPS = Topic(GroupEvent, GROUP_KEY, True, None, "protocol, state, members, assignments")
LAG = Topic(LagEvent, GROUP_KEY, True, 7 * DAY_MS, "every evaluation of a group, whole")
LAG_STATUS = Topic(
    StatusChangeEvent, GROUP_KEY, False, 30 * DAY_MS, "status-change events (CloudEvents 1.0)"
)
INCIDENTS = Topic(
    GroupIncidentEvent,
    GROUP_KEY,
    True,
    400 * DAY_MS,
    "incidents of groups, folded from the status changes (CloudEvents 1.0)",
    history_ms=30 * DAY_MS,
)
NOTIFICATIONS = Topic(
    NotificationEvent, GROUP_KEY, False, 30 * DAY_MS, "audit: each delivery attempt and its end"
)
NOTIFIER_STATE = Topic(
    NotifierState,
    GROUP_KEY,
    True,
    None,
    "internal to the notifiers: open incidents, pending deliveries",
)
SILENCES = Topic(
    Silence, "silence id", True, 180 * DAY_MS, "about which groups nobody is told, until when"
)
ACKNOWLEDGEMENTS = Topic(
    Acknowledgement, "incident id", True, 400 * DAY_MS, "incidents that somebody looks after"
)
NOTIFICATION_TESTS = Topic(
    NotificationTest, "test id", False, DAY_MS, "requests to try out a route of the notifiers"
)
FRESHNESS = Topic(
    FreshnessEvent, GROUP_KEY, True, 7 * DAY_MS, "how late each group is, and time to data loss"
)
CLUSTERS = Topic(
    ClusterEvent, "cluster|collector", True, DAY_MS, "how collectors get on with the clusters"
)
TOPICS = Topic(
    TopicsEvent, "cluster", True, 7 * DAY_MS, "log ends of all topics of a cluster, every 10 s"
)
TRENDS = Topic(TrendEvent, GROUP_KEY, False, 7 * DAY_MS, "what each minute of a group was like")
DEAD_LETTERS = Topic(
    DeadLetter, "as the source", False, 30 * DAY_MS, "input that could not be used"
)

CATALOGUE: tuple[Topic, ...] = (
    OFFSETS,
    GROUPS,
    LAG,
    LAG_STATUS,
    INCIDENTS,
    FRESHNESS,
    NOTIFICATIONS,
    NOTIFIER_STATE,
    SILENCES,
    ACKNOWLEDGEMENTS,
    NOTIFICATION_TESTS,
    CLUSTERS,
    TOPICS,
    TRENDS,
    DEAD_LETTERS,
)
ARCHIVED = tuple(topic for topic in CATALOGUE if topic.is_archived)
