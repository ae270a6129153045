"""Bodies of our own API, version 1. Times are Unix milliseconds, unknown is null."""

from warren_api.v1.models.changes import Incidents, IncidentView, RecordedVerdict
from warren_api.v1.models.clusters import Clusters, ClusterSummary
from warren_api.v1.models.groups import (
    GroupDetail,
    Groups,
    GroupSummary,
    GroupTopic,
    MembershipDetail,
)
from warren_api.v1.models.history import ClusterHistory, GroupHistory, TopicHistory
from warren_api.v1.models.members import Member
from warren_api.v1.models.notifications import (
    Notifications,
    NotificationView,
    PendingView,
    RouteTest,
)
from warren_api.v1.models.objectives import BrokenObjectiveView
from warren_api.v1.models.partitions import PartitionDetail, WindowCommit, WorstPartition
from warren_api.v1.models.silences import (
    AcknowledgementNote,
    BegunSilence,
    SilenceNote,
    Silences,
    SilenceView,
)
from warren_api.v1.models.topics import (
    TopicDetail,
    TopicGroup,
    TopicPartition,
    Topics,
    TopicSummary,
)

__all__ = [
    "AcknowledgementNote",
    "BegunSilence",
    "BrokenObjectiveView",
    "ClusterHistory",
    "ClusterSummary",
    "Clusters",
    "GroupDetail",
    "GroupHistory",
    "GroupSummary",
    "GroupTopic",
    "Groups",
    "IncidentView",
    "Incidents",
    "Member",
    "MembershipDetail",
    "NotificationView",
    "Notifications",
    "PartitionDetail",
    "PendingView",
    "RecordedVerdict",
    "RouteTest",
    "SilenceNote",
    "SilenceView",
    "Silences",
    "TopicDetail",
    "TopicGroup",
    "TopicHistory",
    "TopicPartition",
    "TopicSummary",
    "Topics",
    "WindowCommit",
    "WorstPartition",
]
