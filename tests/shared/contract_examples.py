"""One event of each contract, with values that are seldom."""

import base64
from datetime import UTC, datetime

from support.condition_changes import losing
from warren.contracts import (
    Acknowledgement,
    ChannelIdentity,
    ClusterEvent,
    DeadLetter,
    Event,
    FreshnessEvent,
    GroupEvent,
    GroupMember,
    Incident,
    LagEvent,
    NotificationEvent,
    NotificationTest,
    Notified,
    NotifierState,
    OffsetEvent,
    OpenIncident,
    PendingDelivery,
    RouteProgress,
    Silence,
    StatusChange,
    StatusChangeEvent,
    TopicFreshness,
    TopicLag,
    TopicPositions,
    TopicsEvent,
    TrendEvent,
    TrendTopics,
    WindowEdge,
    WorstFreshness,
)
from warren_core.group_incident import fold

OFFSET_EVENT = OffsetEvent(
    cluster="prod",
    group="billing",
    source="offsets_topic",
    observed_at=1795244400123,
    position=91822,
    topics={
        "orders": TopicPositions(
            partition=[0, 1, 2],
            committed=[1200, 1180, -1],
            committed_at=[1795244399000, 1795244399000, -1],
            commits=[3, 1, 0],
            log_start=[0, 0, 0],
            log_end=[1210, 1400, 77],
        )
    },
    removed={"old-topic": [0, 1]},
)
EDGE = WindowEdge(offset=[5, None], at=[1000, None], observed_at=[1001, None], lag=[None, None])
LAG_EVENT = LagEvent(
    cluster="prod",
    group="billing",
    evaluated_at=1795244400123,
    status="ERR",
    complete=0.5,
    policy="burrow",
    total_lag=7,
    incident=Incident(id="x", opened_at=1795244400123),
    topics={
        "orders": TopicLag(
            partition=[0, 1],
            status=["STOP", "OK"],
            committed=[5, -1],
            committed_at=[1000, -1],
            log_start=[0, 0],
            log_end=[12, -1],
            lag=[7, None],
            complete=[1.0, 0.0],
            window_start=EDGE,
            window_end=EDGE,
        )
    },
)
STATUS_CHANGE = StatusChangeEvent(
    id="1",
    source="/warren/clusters/prod",
    subject="billing",
    time=datetime(2026, 11, 21, 7, 0, 0, 123000, tzinfo=UTC),
    data=StatusChange(
        cluster="prod",
        group="billing",
        status="ERR",
        previous="OK",
        incident_id="i",
        opened_at=1795244400123,
        total_lag=7,
        max_lag=None,
        partition_counts={"OK": 1},
        partitions=[],
    ),
)
DEAD_LETTER = DeadLetter(
    service="evaluator",
    topic="warren.offsets",
    partition=3,
    offset=12,
    reason="not JSON",
    failed_at=1,
    key=base64.b64encode(b"prod|billing"),
    value=base64.b64encode(b"\xff\x00{"),
)
GROUP_EVENT = GroupEvent(
    cluster="prod",
    group="billing",
    observed_at=1,
    position=4,
    protocol="classic",
    members=[
        GroupMember(member_id="m", client_id="c", host="/10.0.0.1", assignment={"orders": [0]})
    ],
)
NOTIFICATION = NotificationEvent(
    cluster="prod",
    group="billing",
    delivery_id="d",
    event_id="1",
    incident_id="i",
    kind="opened",
    status="ERR",
    route="all",
    channel="mail",
    attempt=1,
    at=1795244400123,
    outcome="failed",
    detail="HTTP 500",
    next_attempt_at=1795244402123,
    duration_ms=12,
)
CLUSTER_EVENT = ClusterEvent(
    cluster="prod",
    collector="host-4711",
    observed_at=1795244400123,
    state="unreachable",
    since=1795244300000,
    problem="cluster prod: no broker answers (see clusters.prod.bootstrap)",
    sources=["offsets_topic"],
    groups=12,
    positions=3400,
    source_partitions=50,
    backlog=7,
    published_at=1795244299000,
    log_ends_at=1795244298000,
)
INCIDENT = fold(None, losing(0, 64))
assert INCIDENT is not None
NOTIFIER_STATE = NotifierState(
    cluster="prod",
    group="billing",
    event_type="warren.group.status.changed",
    offset=7,
    incident=OpenIncident(
        incident_id="i",
        event_id="1",
        offset=7,
        routes={"all": RouteProgress(channels=["mail"])},
        reached=["mail"],
    ),
    deliveries=[
        PendingDelivery(
            delivery_id="d",
            event_id="1",
            incident_id="i",
            kind="opened",
            status="ERR",
            route="all",
            channel="mail",
            offset=7,
            accepted_at=1,
            deadline_at=2,
            next_attempt_at=1,
        )
    ],
    notified=[
        Notified(
            incident_id="i",
            channel="mail",
            identity=ChannelIdentity(kind="email", place="", digest="d"),
            route="all",
            closes=True,
            status="ERR",
        )
    ],
    events={"1": INCIDENT},
)
FRESHNESS_EVENT = FreshnessEvent(
    cluster="prod",
    group="billing",
    measured_at=1795244400123,
    observed_at=1795244399000,
    freshness_ms=70_000,
    lost_records=3,
    time_to_loss_ms=None,
    worst=WorstFreshness(topic="orders", partition=1, freshness_ms=70_000),
    topics={
        "orders": TopicFreshness(
            partition=[0, 1],
            committed=[-1, 5],
            freshness_ms=[None, 70_000],
            reason=["no_commit", "expired"],
            bound_ms=[None, 0],
            lost_records=[0, 3],
            time_to_loss_ms=[None, None],
            oldest_at=[None, 1795244330123],
            commit_lag_ms=[None, None],
            append_lag_ms=[None, None],
        )
    },
)
TOPICS_EVENT = TopicsEvent(
    cluster="prod", observed_at=1_795_244_400_123, log_ends={"orders": [7, -1], "empty": [0]}
)
SILENCE = Silence(
    id="3f6c2b8e",
    cluster="^prod$",
    group="^billing",
    begins_at=1_795_244_400_123,
    ends_at=1_795_251_600_123,
    by="ada",
    why="moving the ledger",
    created_at=1_795_244_400_123,
    ended_by="grace",
)
ACKNOWLEDGEMENT = Acknowledgement(
    incident_id="incident-1",
    cluster="prod",
    group="billing",
    by="ada",
    why="restarting it",
    at=1_795_244_400_123,
)
NOTIFICATION_TEST = NotificationTest(id="7d3e", route="pager", by="ada", at=1_795_244_400_123)
TREND = TrendEvent(
    cluster="prod",
    group="billing",
    minute=1_795_244_400_000,
    status_ms={"OK": 41_000, "ERR": 19_000},
    lag=7,
    lag_max=12,
    late_ms=None,
    time_to_loss_ms=None,
    produced=120,
    consumed=None,
    members=0,
    rebalances=1,
    topics=TrendTopics(topic=["orders"], lag=[7], produced=[120], consumed=[None], late_ms=[None]),
)
EVENTS: list[Event] = [
    NOTIFICATION_TEST,
    SILENCE,
    ACKNOWLEDGEMENT,
    FRESHNESS_EVENT,
    NOTIFICATION,
    NOTIFIER_STATE,
    CLUSTER_EVENT,
    OFFSET_EVENT,
    LAG_EVENT,
    STATUS_CHANGE,
    INCIDENT,
    DEAD_LETTER,
    GROUP_EVENT,
    TOPICS_EVENT,
    TREND,
]
IDS = [type(event).__name__ for event in EVENTS]
