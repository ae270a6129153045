"""Examples of groups, for the OpenAPI description: one that stopped on one partition."""

from __future__ import annotations

from typing import Any

from warren.loss_words import after_loss, deleted

Body = dict[str, Any]

NOW = 1_795_244_400_123
STOPPED_AT = NOW - 252_000
_WHY = (
    "orders/1: no commit for 4m 12s, usual pause 5s; 2,101 records behind, log still growing "
    "by 40/s"
)
OPEN_INCIDENT: Body = {"id": "4f9c2f0e-6a53-5b0f-8f0e-0b9c2f1d7a11", "opened_at": STOPPED_AT}

CAUSE: Body = {
    "name": "one_member",
    "short": "One member stands still",
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
            "sentence": deleted(39, "orders/1", 1),
            "action": after_loss("orders"),
            "evidence": {"topic": "orders", "partition": 1, "partitions": 1, "lost_records": 39},
        }
    ],
}

SILENCE: Body = {
    "id": "3f6c2b8e91d4",
    "cluster": "^prod$",
    "group": "^billing",
    "in_force": True,
    "begins_at": NOW - 60_000,
    "ends_at": NOW + 7_140_000,
    "by": "ada",
    "why": "moving the ledger",
    "created_at": NOW - 60_000,
    "ended_by": None,
}
ACKNOWLEDGEMENT: Body = {"by": "grace", "why": "restarting it", "at": NOW - 30_000}

GROUP_SUMMARY: Body = {
    "cluster": "prod",
    "group": "billing",
    "status": "ERR",
    "last_status": "ERR",
    "not_judged": None,
    "status_reason": "no_commit",
    "ignored": False,
    "explanation": _WHY,
    "cause": CAUSE,
    "since": STOPPED_AT,
    "total_lag": 2140,
    "total_lag_at_least": None,
    "complete": 1.0,
    "worst": {"topic": "orders", "partition": 1, "status": "STOP", "lag": 2101},
    "incident": OPEN_INCIDENT,
    "broken_objectives": [
        {
            "objective": "orders-on-time",
            "limit": "max_freshness",
            "status": "WARN",
            "since": NOW - 180_000,
            "sentence": "orders/0 is at least 9m late (limit 5m)",
            "owner": "payments",
            "told_at": NOW - 120_000,
            "incident_id": "3b9c77f1-4b7a-5b0e-9f3c-0d5d3a6f1c22",
        }
    ],
    "silence": {"id": SILENCE["id"], **{k: SILENCE[k] for k in ("ends_at", "by", "why")}},
    "acknowledgement": ACKNOWLEDGEMENT,
    "evaluated_at": NOW,
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
    "data_loss": None,
    "freshness_measured_at": NOW - 2_000,
    "freshness_stale": False,
    "owner": "payments",
    "runbook": "https://wiki.example.org/payments",
    "severity": "ERR",
}

SHARE_GROUP_SUMMARY: Body = {
    **dict.fromkeys(GROUP_SUMMARY),
    "cluster": "prod",
    "group": "thumbnails",
    "not_judged": "lag not defined by committed offsets",
    "broken_objectives": [],
    "ignored": False,
    "partition_counts": {},
    "partition_count": 6,
    "protocol": "share",
    "state": "Stable",
    "member_count": 3,
    "freshness_stale": False,
    "owner": None,
    "runbook": None,
}

GROUPS: Body = {
    "groups": [GROUP_SUMMARY, SHARE_GROUP_SUMMARY],
    "next": None,
    "total": 2,
    "doubts": [],
    "hints": [],
}

VERDICT: Body = {
    "id": "0c2f7f6e-41ab-5d0c-9a8e-3d5a1f0b6c22",
    "type": "warren.group.status.changed",
    "at": STOPPED_AT,
    "status": "ERR",
    "previous": "OK",
    "reason": "no_commit",
    "explanation": "orders/1: no commit for 30s, usual pause 5s; 1,003 records behind",
    "cause": CAUSE,
    "incident_id": OPEN_INCIDENT["id"],
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
    "lag_at_least": False,
    "committed": 1_200_771,
    "committed_at": NOW - 1_200,
    "log_start": 0,
    "log_end": 1_200_810,
    "complete": 1.0,
    "window_start": {
        "offset": 1_198_900,
        "at": NOW - 46_200,
        "observed_at": NOW - 45_900,
        "lag": 41,
    },
    "window_end": {
        "offset": 1_200_771,
        "at": NOW - 1_200,
        "observed_at": NOW - 900,
        "lag": 39,
    },
    "freshness_ms": 940,
    "reason": "exact",
    "bound_ms": 0,
    "lost_records": 0,
    "time_to_loss_ms": 86_399_060,
    "time_to_loss_reason": None,
    "oldest_at": NOW - 2_940,
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
    "lag_at_least": False,
    "committed": 1_180_402,
    "committed_at": STOPPED_AT,
    "log_end": 1_182_503,
    "freshness_ms": 252_400,
    "time_to_loss_ms": 86_147_600,
    "time_to_loss_reason": None,
    "oldest_at": NOW - 254_400,
    "append_lag_ms": 252_000,
}

GROUP_DETAIL: Body = {
    **GROUP_SUMMARY,
    "labels": {"tier": "1"},
    "action": CAUSE["action"],
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
        "observed_at": NOW - 600_000,
        "protocol_type": "consumer",
        "generation": 17,
        "assignor": "uniform",
        "leader": None,
        "coordinator": 2,
        "rebalances": 3,
        "last_rebalance_at": NOW - 600_000,
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
            "since": NOW - 1_800_000,
            "producer_id": 4001,
            "producer_epoch": 3,
            "transactional_id": "payments-1",
            "hanging": True,
        }
    ],
    "history": [VERDICT],
    "doubts": [],
}
