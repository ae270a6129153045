"""Event contracts: the only definition of what is on Warren's topics (docs/ is generated)."""

from warren.contracts.cause import Cause, CauseEvidence, Finding
from warren.contracts.cluster_event import ClusterEvent, ClusterStateName
from warren.contracts.commit_convention import CommitConvention
from warren.contracts.dead_letter import DeadLetter
from warren.contracts.event import Event
from warren.contracts.freshness_event import (
    FreshnessEvent,
    FreshnessReason,
    OpenTransaction,
    TopicFreshness,
    WorstFreshness,
)
from warren.contracts.group_event import GroupEvent, GroupMember
from warren.contracts.group_incident import (
    CONDITIONS,
    GROUP_INCIDENT,
    Condition,
    GroupIncident,
    GroupIncidentEvent,
)
from warren.contracts.group_key import (
    group_key,
    part_key,
    require_group,
    split_group_key,
    whole_key,
)
from warren.contracts.lag_event import Incident, LagEvent, TopicLag, WindowEdge
from warren.contracts.notification_event import (
    TEST_CLUSTER,
    DeliveryKind,
    DeliveryOutcome,
    NotificationEvent,
    NotificationTest,
)
from warren.contracts.notifier_state import (
    Acknowledged,
    ChannelIdentity,
    DigestKey,
    Flapping,
    Flaps,
    Notified,
    NotifierState,
    OpenIncident,
    PendingDelivery,
    RouteProgress,
)
from warren.contracts.offset_event import EarlierPositions, OffsetEvent, TopicPositions
from warren.contracts.reason import REASONS, EndReasonName, ReasonName
from warren.contracts.silence import LONGEST_SILENCE_MS, Acknowledgement, Silence
from warren.contracts.status import GroupStatusName, PartitionStatusName, Status
from warren.contracts.status_change import (
    EVENT_TYPES,
    FRESHNESS_CHANGED,
    MAX_OBJECTIVES,
    MAX_PARTITIONS,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    BadPartition,
    Breach,
    EventTypeName,
    LimitName,
    MaxLag,
    StatusChange,
    StatusChangeEvent,
)
from warren.contracts.topics_event import TopicsEvent
from warren.contracts.trend_event import MINUTE_MS, TrendEvent, TrendTopics
from warren.reason_words import LOSS_UNKNOWN, TimeToLossReason

__all__ = [
    "CONDITIONS",
    "EVENT_TYPES",
    "FRESHNESS_CHANGED",
    "GROUP_INCIDENT",
    "LONGEST_SILENCE_MS",
    "LOSS_UNKNOWN",
    "MAX_OBJECTIVES",
    "MAX_PARTITIONS",
    "MINUTE_MS",
    "REASONS",
    "RETENTION_CHANGED",
    "STATUS_CHANGED",
    "TEST_CLUSTER",
    "Acknowledged",
    "Acknowledgement",
    "BadPartition",
    "Breach",
    "Cause",
    "CauseEvidence",
    "ChannelIdentity",
    "ClusterEvent",
    "ClusterStateName",
    "CommitConvention",
    "Condition",
    "DeadLetter",
    "DeliveryKind",
    "DeliveryOutcome",
    "DigestKey",
    "EarlierPositions",
    "EndReasonName",
    "Event",
    "EventTypeName",
    "Finding",
    "Flapping",
    "Flaps",
    "FreshnessEvent",
    "FreshnessReason",
    "GroupEvent",
    "GroupIncident",
    "GroupIncidentEvent",
    "GroupMember",
    "GroupStatusName",
    "Incident",
    "LagEvent",
    "LimitName",
    "MaxLag",
    "NotificationEvent",
    "NotificationTest",
    "Notified",
    "NotifierState",
    "OffsetEvent",
    "OpenIncident",
    "OpenTransaction",
    "PartitionStatusName",
    "PendingDelivery",
    "ReasonName",
    "RouteProgress",
    "Silence",
    "Status",
    "StatusChange",
    "StatusChangeEvent",
    "TimeToLossReason",
    "TopicFreshness",
    "TopicLag",
    "TopicPositions",
    "TopicsEvent",
    "TrendEvent",
    "TrendTopics",
    "WindowEdge",
    "WorstFreshness",
    "group_key",
    "part_key",
    "require_group",
    "split_group_key",
    "whole_key",
]
