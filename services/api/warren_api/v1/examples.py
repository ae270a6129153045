"""Examples of every body, for the OpenAPI description; those of groups are in `example_groups`."""

from __future__ import annotations

import json

from warren_api.v1.example_groups import (
    ACKNOWLEDGEMENT,
    CAUSE,
    GROUP_DETAIL,
    GROUPS,
    NOW,
    OPEN_INCIDENT,
    SILENCE,
    STOPPED_AT,
    VERDICT,
    Body,
)

CLUSTER_SUMMARY: Body = {
    "cluster": "prod",
    "configured": True,
    "state": "ok",
    "state_since": NOW - 86_400_000,
    "problem": None,
    "groups": 1,
    "status_counts": {"ERR": 1, "WARN": 0, "OK": 0},
    "losing": 0,
    "endangered": 0,
    "not_judged": 1,
    "topics": 1,
    "partitions": 2,
    "total_lag": 2140,
    "total_lag_at_least": None,
    "evaluated_at": NOW,
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
            "evaluated_at": NOW,
        }
    ],
}

INCIDENT: Body = {
    "id": OPEN_INCIDENT["id"],
    "type": VERDICT["type"],
    "cluster": "prod",
    "group": "billing",
    "open": True,
    "opened_at": STOPPED_AT,
    "closed_at": None,
    "status": "ERR",
    "worst": "ERR",
    "conditions": [
        {
            "id": OPEN_INCIDENT["id"],
            "type": VERDICT["type"],
            "open": True,
            "opened_at": STOPPED_AT,
            "closed_at": None,
            "status": "ERR",
            "worst": "ERR",
        }
    ],
    "max_total_lag": 1042,
    "acknowledgement": ACKNOWLEDGEMENT,
    "changes": [VERDICT],
    "now": {
        "sentence": CAUSE["sentence"],
        "said_at": None,
        "action": CAUSE["action"],
        "also": CAUSE["also"],
        "total_lag": 2140,
        "evaluated_at": NOW,
    },
    "lost_records": None,
    "short": CAUSE["short"],
}
_TOLD: Body = {
    "cluster": "prod",
    "group": "billing",
    "incident_id": OPEN_INCIDENT["id"],
    "event_id": VERDICT["id"],
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
            "at": STOPPED_AT + 312,
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
            "since": STOPPED_AT + 250,
            "attempts": 0,
            "next_attempt_at": STOPPED_AT + 250,
            "held": "silence 3f6c2b8e91d4",
        }
    ],
    "pending_total": 1,
}
INCIDENTS: Body = {
    "incidents": [INCIDENT],
    "next": None,
    "total": 1,
    "remembered_since": STOPPED_AT,
}

_MINUTE = STOPPED_AT - STOPPED_AT % 60_000
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

VIEW: Body = {
    "name": "Late payments",
    "query": "q=owner:payments+late:>5m",
    "by": "ada",
    "at": NOW - 86_400_000,
}
PROBLEM_TYPE: Body = {
    "type": "/api/v1/problems/group-not-found",
    "title": "Consumer group not found",
    "status": 404,
    "meaning": "The group was deleted, has expired, or was never there.",
}

CLOUD_EVENT: Body = {
    "specversion": "1.0",
    "id": VERDICT["id"],
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
        "explanation": VERDICT["explanation"],
        "incident_id": OPEN_INCIDENT["id"],
        "opened_at": STOPPED_AT,
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
data: {json.dumps(CLOUD_EVENT, separators=(",", ":"))}

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
    "Views": {"views": [VIEW]},
    "View": VIEW,
    "Silences": {"silences": [SILENCE]},
    "SilenceView": SILENCE,
    "BegunSilence": SILENCE | {"groups": 3},
    "ProblemTypes": {"problems": [PROBLEM_TYPE]},
    "ProblemType": PROBLEM_TYPE,
}
