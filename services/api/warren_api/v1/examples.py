"""Examples of every body, for the OpenAPI description: a group that stopped on one partition."""

from __future__ import annotations

import json
from typing import Any

Body = dict[str, Any]

_NOW = 1_795_244_400_123
_STOPPED_AT = _NOW - 252_000
_WHY = (
    "orders/1: no commit for 4 m 12 s, usual pause 5 s; 2,101 records behind, log still growing "
    "by 40/s"
)
_INCIDENT: Body = {"id": "4f9c2f0e-6a53-5b0f-8f0e-0b9c2f1d7a11", "opened_at": _STOPPED_AT}

_CAUSE: Body = {
    "name": "one_member",
    "sentence": "orders/1 belongs to member billing-2 at 10.1.2.3; the other one is well",
    "action": "look at billing-2 at 10.1.2.3; when it ends, the others take over",
    "evidence": {
        "topic": "orders",
        "partition": 1,
        "partitions": 1,
        "client_id": "billing-2",
        "host": "10.1.2.3",
        "members": 2,
    },
    "also": [
        {
            "name": "records_lost",
            "sentence": "retention has deleted 39 records that the group had not consumed, of "
            "orders/1",
            "action": "what is deleted is gone; raise retention.ms until the group has caught up, "
            "and see that it consumes",
            "evidence": {"topic": "orders", "partition": 1, "partitions": 1, "lost_records": 39},
        }
    ],
}

_SILENCE: Body = {
    "id": "3f6c2b8e91d4",
    "cluster": "^prod$",
    "group": "^billing",
    "in_force": True,
    "begins_at": _NOW - 60_000,
    "ends_at": _NOW + 7_140_000,
    "by": "ada",
    "why": "moving the ledger",
    "created_at": _NOW - 60_000,
    "ended_by": None,
}
_ACKNOWLEDGEMENT: Body = {"by": "grace", "why": "restarting it", "at": _NOW - 30_000}

GROUP_SUMMARY: Body = {
    "cluster": "prod",
    "group": "billing",
    "status": "ERR",
    "last_status": "ERR",
    "not_judged": None,
    "status_reason": "no_commit",
    "explanation": _WHY,
    "cause": _CAUSE,
    "since": _STOPPED_AT,
    "total_lag": 2140,
    "complete": 1.0,
    "worst": {"topic": "orders", "partition": 1, "status": "STOP", "lag": 2101},
    "incident": _INCIDENT,
    "broken_objectives": [
        {
            "objective": "orders-on-time",
            "limit": "max_freshness",
            "status": "WARN",
            "since": _NOW - 180_000,
            "sentence": "orders/0 is at least 9 m late (limit 5 m)",
            "owner": "payments",
            "told_at": _NOW - 120_000,
            "incident_id": "3b9c77f1-4b7a-5b0e-9f3c-0d5d3a6f1c22",
        }
    ],
    "silence": {"id": _SILENCE["id"], **{k: _SILENCE[k] for k in ("ends_at", "by", "why")}},
    "acknowledgement": _ACKNOWLEDGEMENT,
    "evaluated_at": _NOW,
    "partition_counts": {"STOP": 1, "OK": 1},
    "partition_count": 2,
    "protocol": "consumer",
    "state": "Stable",
    "member_count": 1,
    "freshness_ms": 252_400,
    "freshness_at_least_ms": None,
    "freshness_reason": "exact",
    "lost_records": 0,
    "time_to_loss_ms": 86_147_600,
    "time_to_loss_reason": None,
    "freshness_measured_at": _NOW - 2_000,
    "freshness_stale": False,
}

SHARE_GROUP_SUMMARY: Body = {
    **dict.fromkeys(GROUP_SUMMARY),
    "cluster": "prod",
    "group": "thumbnails",
    "not_judged": "lag not defined by committed offsets",
    "broken_objectives": [],
    "partition_counts": {},
    "partition_count": 6,
    "protocol": "share",
    "state": "Stable",
    "member_count": 3,
    "freshness_stale": False,
}

GROUPS: Body = {
    "groups": [GROUP_SUMMARY, SHARE_GROUP_SUMMARY],
    "next": None,
    "total": 2,
    "doubts": [],
    "hints": [],
}

_VERDICT: Body = {
    "id": "0c2f7f6e-41ab-5d0c-9a8e-3d5a1f0b6c22",
    "type": "warren.group.status.changed",
    "at": _STOPPED_AT,
    "status": "ERR",
    "previous": "OK",
    "reason": "no_commit",
    "explanation": "orders/1: no commit for 30 s, usual pause 5 s; 1,003 records behind",
    "cause": _CAUSE,
    "incident_id": _INCIDENT["id"],
    "total_lag": 1042,
    "max_lag": {"topic": "orders", "partition": 1, "lag": 1003},
    "partition_counts": {"STOP": 1, "OK": 1},
}

_OWNER = "c0ffee00-1111-4222-8333-444455556666"
_HEALTHY_PARTITION: Body = {
    "topic": "orders",
    "partition": 0,
    "status": "OK",
    "status_reason": None,
    "explanation": None,
    "owner": _OWNER,
    "lag": 39,
    "committed": 1_200_771,
    "committed_at": _NOW - 1_200,
    "log_start": 0,
    "log_end": 1_200_810,
    "complete": 1.0,
    "window_start": {
        "offset": 1_198_900,
        "at": _NOW - 46_200,
        "observed_at": _NOW - 45_900,
        "lag": 41,
    },
    "window_end": {
        "offset": 1_200_771,
        "at": _NOW - 1_200,
        "observed_at": _NOW - 900,
        "lag": 39,
    },
    "freshness_ms": 940,
    "reason": "exact",
    "bound_ms": 0,
    "lost_records": 0,
    "time_to_loss_ms": 86_399_060,
    "time_to_loss_reason": None,
    "oldest_at": _NOW - 2_940,
    "commit_lag_ms": 310,
    "append_lag_ms": 900,
}
_STOPPED_PARTITION: Body = {
    **_HEALTHY_PARTITION,
    "partition": 1,
    "status": "STOP",
    "status_reason": "no_commit",
    "explanation": _WHY.removeprefix("orders/1: "),
    "lag": 2101,
    "committed": 1_180_402,
    "committed_at": _STOPPED_AT,
    "log_end": 1_182_503,
    "freshness_ms": 252_400,
    "time_to_loss_ms": 86_147_600,
    "time_to_loss_reason": None,
    "oldest_at": _NOW - 254_400,
    "append_lag_ms": 252_000,
}

GROUP_DETAIL: Body = {
    **GROUP_SUMMARY,
    "policy": "burrow",
    "topics": [
        {
            "topic": "orders",
            "partition_count": 2,
            "lag": 2140,
            "produce_rate": 80.5,
            "consume_rate": 40.1,
            "catch_up_ms": None,
        }
    ],
    "partitions": [_HEALTHY_PARTITION, _STOPPED_PARTITION],
    "membership": {
        "observed_at": _NOW - 600_000,
        "protocol_type": "consumer",
        "generation": 17,
        "assignor": "uniform",
        "leader": None,
        "coordinator": 2,
        "rebalances": 3,
        "last_rebalance_at": _NOW - 600_000,
        "idle_members": 0,
        "assignment_skew": 1.0,
        "unowned": {},
        "members": [
            {
                "member_id": _OWNER,
                "instance_id": None,
                "client_id": "billing-1",
                "host": "/10.0.4.17",
                "rack": None,
                "epoch": 17,
                "subscription": ["orders"],
                "subscribed_regex": None,
                "assignment": {"orders": [0, 1]},
            }
        ],
    },
    "open_transactions": [
        {
            "topic": "orders",
            "partition": 1,
            "first_offset": 1_180_402,
            "since": _NOW - 1_800_000,
            "producer_id": 4001,
            "producer_epoch": 3,
            "transactional_id": "payments-1",
            "hanging": True,
        }
    ],
    "history": [_VERDICT],
    "doubts": [],
}

CLUSTER_SUMMARY: Body = {
    "cluster": "prod",
    "configured": True,
    "state": "ok",
    "state_since": _NOW - 86_400_000,
    "problem": None,
    "groups": 1,
    "status_counts": {"ERR": 1, "WARN": 0, "OK": 0},
    "losing": 0,
    "endangered": 0,
    "not_judged": 1,
    "topics": 1,
    "partitions": 2,
    "total_lag": 2140,
    "evaluated_at": _NOW,
}
CLUSTERS: Body = {"clusters": [CLUSTER_SUMMARY], "doubts": []}

TOPIC_SUMMARY: Body = {
    "cluster": "prod",
    "topic": "orders",
    "partition_count": 2,
    "group_count": 1,
    "produce_rate": 80.5,
    "consume_rate": 40.1,
    "max_lag": 2140,
}
TOPICS: Body = {"topics": [TOPIC_SUMMARY], "next": None, "total": 1}
TOPIC_DETAIL: Body = {
    **TOPIC_SUMMARY,
    "partitions": [
        {"partition": 0, "log_start": 0, "log_end": 1_200_810},
        {"partition": 1, "log_start": 0, "log_end": 1_182_503},
    ],
    "groups": [
        {
            "group": "billing",
            "status": "ERR",
            "lag": 2140,
            "consume_rate": 40.1,
            "partition_count": 2,
            "evaluated_at": _NOW,
        }
    ],
}

INCIDENT: Body = {
    "id": _INCIDENT["id"],
    "type": _VERDICT["type"],
    "cluster": "prod",
    "group": "billing",
    "open": True,
    "opened_at": _STOPPED_AT,
    "closed_at": None,
    "worst": "ERR",
    "max_total_lag": 1042,
    "acknowledgement": _ACKNOWLEDGEMENT,
    "changes": [_VERDICT],
    "now": {
        "sentence": _CAUSE["sentence"],
        "said_at": None,
        "action": _CAUSE["action"],
        "also": _CAUSE["also"],
        "total_lag": 2140,
        "evaluated_at": _NOW,
    },
}
_TOLD: Body = {
    "cluster": "prod",
    "group": "billing",
    "incident_id": _INCIDENT["id"],
    "event_id": _VERDICT["id"],
    "delivery_id": "9c1a4f0e-52b3-5d0f-8a77-1f2e3d4c5b6a",
    "kind": "opened",
    "status": "ERR",
    "route": "pager",
    "channel": "oncall",
}
NOTIFICATIONS: Body = {
    "notifications": [
        {
            **_TOLD,
            "at": _STOPPED_AT + 312,
            "attempt": 1,
            "outcome": "delivered",
            "detail": "204 No Content",
            "next_attempt_at": None,
            "duration_ms": 48,
        }
    ],
    "next": None,
    "total": 1,
    "pending": [
        {
            **_TOLD,
            "channel": "team",
            "since": _STOPPED_AT + 250,
            "attempts": 0,
            "next_attempt_at": _STOPPED_AT + 250,
            "held": "silence 3f6c2b8e91d4",
        }
    ],
    "pending_total": 1,
}
INCIDENTS: Body = {
    "incidents": [INCIDENT],
    "next": None,
    "total": 1,
    "remembered_since": _STOPPED_AT,
}

_MINUTE = _STOPPED_AT - _STOPPED_AT % 60_000
_STEPS: Body = {
    "cluster": "prod",
    "from": _MINUTE,
    "to": _MINUTE + 120_000,
    "step": 60_000,
    "at": [_MINUTE, _MINUTE + 60_000],
    "doubts": [],
}
_STATUS: Body = {"ok_ms": [48_000, 0], "warn_ms": [0, 0], "err_ms": [12_000, 60_000]}
GROUP_HISTORY: Body = {
    **_STEPS,
    "group": "billing",
    **_STATUS,
    "lag": [400, 1042],
    "lag_max": [400, 1042],
    "late_ms": [9_800, 69_800],
    "time_to_loss_ms": [None, None],
    "produced": [642, 642],
    "consumed": [310, 0],
    "members": [2, 0],
    "rebalances": [1, 0],
}
TOPIC_HISTORY: Body = {
    **_STEPS,
    "topic": "orders",
    "lag_max": [400, 1042],
    "late_ms": [9_800, 69_800],
    "produced": [642, 642],
    "consumed": [952, 642],
}
CLUSTER_HISTORY: Body = {
    **_STEPS,
    **_STATUS,
    "lag": [400, 1042],
    "late_ms": [9_800, 69_800],
    "time_to_loss_ms": [None, None],
    "consumed": [952, 642],
}

PROBLEM_TYPE: Body = {
    "type": "/api/v1/problems/group-not-found",
    "title": "Consumer group not found",
    "status": 404,
    "meaning": "The group was deleted, has expired, or was never there.",
}

_CLOUD_EVENT: Body = {
    "specversion": "1.0",
    "id": _VERDICT["id"],
    "source": "/warren/clusters/prod",
    "type": "warren.group.status.changed",
    "subject": "billing",
    "time": "2026-11-21T06:55:48.123Z",
    "datacontenttype": "application/json",
    "data": {
        "cluster": "prod",
        "group": "billing",
        "status": "ERR",
        "previous": "OK",
        "reason": "no_commit",
        "explanation": _VERDICT["explanation"],
        "incident_id": _INCIDENT["id"],
        "opened_at": _STOPPED_AT,
        "total_lag": 1042,
        "max_lag": {"topic": "orders", "partition": 1, "lag": 1003},
        "partition_counts": {"STOP": 1, "OK": 1},
        "partitions": [],
        "partitions_omitted": 0,
    },
}
EVENTS = f"""retry: 2000
id: 0:118,3:41

id: 0:118,3:42
event: warren.group.status.changed
data: {json.dumps(_CLOUD_EVENT, separators=(",", ":"))}

"""

BY_MODEL: dict[str, Body] = {
    "Clusters": CLUSTERS,
    "ClusterSummary": CLUSTER_SUMMARY,
    "ClusterHistory": CLUSTER_HISTORY,
    "GroupHistory": GROUP_HISTORY,
    "TopicHistory": TOPIC_HISTORY,
    "Groups": GROUPS,
    "GroupDetail": GROUP_DETAIL,
    "Topics": TOPICS,
    "TopicDetail": TOPIC_DETAIL,
    "Incidents": INCIDENTS,
    "IncidentView": INCIDENT,
    "Notifications": NOTIFICATIONS,
    "RouteTest": {"id": "7d3e5f60a1b2", "route": "pager", "incident_id": "test-7d3e5f60a1b2"},
    "Silences": {"silences": [_SILENCE]},
    "SilenceView": _SILENCE,
    "BegunSilence": _SILENCE | {"groups": 3},
    "ProblemTypes": {"problems": [PROBLEM_TYPE]},
    "ProblemType": PROBLEM_TYPE,
}
