"""The OpenAPI 3.1 description of `/api/v1`.

Properties that are called the same mean the same wherever they are; one with words of its own keeps
them.
"""

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from warren.contracts import StatusChangeEvent
from warren.contracts.status_change import CONTENT_TYPE
from warren.entry import own_version

from warren_api.http.problem import MEDIA_TYPE, Problem, ProblemKind, documented

MEANINGS = {
    "at": "Unix milliseconds",
    "assignor": "Who assigns partitions, as Kafka names it; empty unknown",
    "begins_at": "From when on it holds, Unix milliseconds",
    "by": "Who said so",
    "channel": "Name of the channel, as the settings have it",
    "client_id": "As the client calls itself",
    "cluster": "Name of the cluster, as the settings have it",
    "clusters": "By name",
    "committed": "Committed offset; -1 unknown",
    "committed_at": "When it was committed, Unix milliseconds; -1 unknown",
    "created_at": "When somebody asked for it, Unix milliseconds",
    "delivery_id": "Same cause, route and channel: same id",
    "ends_at": "Until when it holds, Unix milliseconds",
    "err_ms": "Milliseconds of the step in ERR; null where nobody knows",
    "evaluated_at": "When the group was last judged, Unix milliseconds",
    "event_id": "The CloudEvent that is delivered",
    "evidence": "What speaks for it",
    "group": "Name of the consumer group",
    "group_count": "Groups that consume the topic",
    "groups": "Consumer groups",
    "host": "Address of the client, as the coordinator sees it",
    "id": "Stays what it is from beginning to end",
    "incident_id": "Of the incident that it is about",
    "incidents": "Newest first",
    "kind": "opened, changed, repeated or resolved",
    "lag": "Records not consumed; null unknown",
    "last_rebalance_at": "Unix milliseconds; null: none was seen",
    "log_end": "Offset after the last record; -1 or null unknown",
    "log_start": "First offset that is still there; -1 or null unknown",
    "lost_records": "Records that were deleted before they were consumed",
    "max_lag": "The partition that is furthest behind; null unknown",
    "member_id": "As the coordinator names it",
    "members": "Who is in the group",
    "next_attempt_at": "When it is tried again, Unix milliseconds; null: it is not",
    "notifications": "Newest first",
    "observed_at": "When Warren saw it, Unix milliseconds",
    "offset": "Of the topic's partition",
    "open": "It has not ended",
    "opened_at": "Unix milliseconds",
    "partition": "Number of the partition",
    "partition_count": "How many partitions it is about",
    "partition_counts": "How many partitions have which status; statuses of none are left out",
    "owner": "Who looks after the group; null: the settings name nobody",
    "partitions": "One by one",
    "pending_total": "Deliveries that wait, on all pages",
    "previous": "The status before",
    "problems": "Kinds of problems",
    "produced_before_per_s": "Records a second that were produced before",
    "produced_per_s": "Records a second that are produced",
    "producer_epoch": "Of the producer that holds the transaction open; null unknown",
    "producer_id": "Of the producer that holds the transaction open; null unknown",
    "protocol_type": "consumer, connect, …: classic groups only",
    "rack": "Where the member says it is; null: it does not",
    "route": "Name of the route, as the settings have it",
    "runbook": "Where it is said what to do; null: the settings name none",
    "silences": "Those that hold or will, then those that are over",
    "since": "Unix milliseconds",
    "state_since": "When the state began, Unix milliseconds; null unknown",
    "status": "As the group or partition was judged",
    "subscribed_regex": "Expression by which brokers find the member's topics; null: none",
    "title": "Short, the same for the same kind of problem",
    "topic": "Name of the topic",
    "topics": "By name",
    "total_lag": "Sum of the known lags, records",
    "transactional_id": "Of the producer that holds the transaction open; null unknown",
    "type": "The URI by which to tell it from others",
    "warn_ms": "Milliseconds of the step in WARN; null where nobody knows",
    "why": "What for",
    "window_end": "The newest commit of the window; null: it is empty",
    "window_start": "The oldest commit of the window; null: it is empty",
    "within_ms": "Milliseconds in which it was seen so often",
    "worst": "The partition to look at first; null: there is none",
}
OF_MODELS = {
    "ProblemType.status": "HTTP status code",
    "WindowCommit.offset": "Committed offset",
    "CauseEvidence.members": "How many members are in the group",
    "Clusters.clusters": "All that are configured or that events have come from, by name",
    "Groups.groups": "In the order that was asked for",
    "StatusChangeEvent.specversion": "Of CloudEvents",
    "StatusChangeEvent.time": "When it changed, as RFC 3339 has it",
    "StatusChangeEvent.datacontenttype": "Of data",
    "StatusChangeEvent.data": "What has changed",
    "GroupDetail.topics": "Topics that the group consumes, with their rates",
    "TopicDetail.groups": "Groups that consume the topic",
    "TopicGroup.status": "Of the group, as it was last judged",
}
"""Where a model means something else by the name."""

OPERATIONS = {
    ("get", "/clusters"): "list_clusters",
    ("get", "/clusters/{cluster}"): "get_cluster",
    ("get", "/clusters/{cluster}/history"): "get_cluster_history",
    ("get", "/events"): "follow_events",
    ("get", "/groups"): "list_groups",
    ("get", "/groups/{cluster}/{group}"): "get_group",
    ("get", "/groups/{cluster}/{group}/history"): "get_group_history",
    ("get", "/incidents"): "list_incidents",
    ("get", "/incidents/{id}"): "get_incident",
    ("post", "/incidents/{id}/acknowledge"): "acknowledge_incident",
    ("delete", "/incidents/{id}/acknowledge"): "withdraw_acknowledgement",
    ("get", "/notifications"): "list_notifications",
    ("post", "/notifications/test"): "test_route",
    ("get", "/problems"): "list_problems",
    ("get", "/problems/{slug}"): "get_problem",
    ("get", "/silences"): "list_silences",
    ("get", "/silences/{id}"): "get_silence",
    ("post", "/silences"): "begin_silence",
    ("delete", "/silences/{id}"): "end_silence",
    ("get", "/topics"): "list_topics",
    ("get", "/topics/{cluster}/{topic}"): "get_topic",
    ("get", "/topics/{cluster}/{topic}/history"): "get_topic_history",
}
"""Ids of operations by method and path: generated clients name their functions so, so they stay."""


PATH = "/api/v1/openapi.json"
_PREFIX = "/api/v1"
_SCHEMAS = "#/components/schemas/{model}"
_PROBLEM = {"$ref": _SCHEMAS.format(model="Problem")}
_DESCRIPTION = """What Warren knows of Kafka consumer groups: which is stuck, since when, how late,
how long until data is lost, and why.

Times are Unix milliseconds, durations milliseconds, rates records per second; unknown is null,
never 0. Readers ignore fields that they do not know. Errors are `application/problem+json`
(RFC 9457).
"""


def document(app: FastAPI) -> dict[str, Any]:
    """Of the routes of `app` that are not hidden."""
    described = get_openapi(
        title="Warren",
        version=own_version(),
        summary="Kafka consumer groups, judged",
        description=_DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        openapi_version="3.1.0",
        routes=app.routes,
    )
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            operation["operationId"] = OPERATIONS[method, path.removeprefix(_PREFIX)]
            _correct(operation["responses"])
    components = described["components"]
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own errors: not ours
        components["schemas"].pop(name, None)
    for model in (Problem, StatusChangeEvent):
        schema = model.model_json_schema(mode="serialization", ref_template=_SCHEMAS)
        components["schemas"] |= schema.pop("$defs", {}) | {model.__name__: schema}
    described["webhooks"] = {"status_changed": {"post": _status_changed()}}
    for name, schema in components["schemas"].items():
        for field, said in schema.get("properties", {}).items():
            meaning = OF_MODELS.get(f"{name}.{field}") or MEANINGS.get(field)
            if meaning and "description" not in said:  # it does not say it itself
                said["description"] = meaning
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "basic": {
            "type": "http",
            "scheme": "basic",
            "description": "The token is the password; the user name does not matter.",
        },
    }
    # {}: on a loopback address, or as api.without_token says, none is needed.
    described["security"] = [{"bearer": []}, {"basic": []}, {}]
    return described


def _status_changed() -> dict[str, Any]:
    """What a channel of type `webhook` sends."""
    headers = {
        "webhook-id": "The same for each attempt of a delivery: drop those that you know",
        "webhook-timestamp": "Of the attempt, Unix seconds: refuse old ones",
        "webhook-signature": "As Standard Webhooks describe; one for each secret, by spaces",
    }
    return {
        "operationId": "status_changed",
        "summary": "A group's status, freshness or retention has changed",
        "description": "Sent by the notifier to channels of type `webhook`; signed as Standard "
        "Webhooks describe. Any 2xx takes it. All else is tried again, as the channel's settings "
        "say; 4xx but for 408, 425 and 429 is a refusal.",
        "parameters": [
            {
                "in": "header",
                "name": name,
                "required": True,
                "description": said,
                "schema": {"type": "string"},
            }
            for name, said in headers.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                CONTENT_TYPE: {
                    "schema": {"$ref": _SCHEMAS.format(model=StatusChangeEvent.__name__)},
                    "example": CLOUD_EVENT,
                }
            },
        },
        "responses": {"2XX": {"description": "Taken"}},
        "security": [],
    }


def install(app: FastAPI) -> None:
    """Serves it: made once, when it is first asked for."""

    def openapi() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation has it


def _correct(responses: dict[str, Any]) -> None:
    if "HTTPValidationError" in str(responses.get("422", "")):
        responses["422"] = documented(ProblemKind.INVALID_REQUEST)[422]
    responses["401"] = documented(ProblemKind.TOKEN_NEEDED)[401]
    for response in responses.values():
        if problems := response.get("content", {}).get(MEDIA_TYPE):
            problems["schema"] = _PROBLEM


CLOUD_EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "0c1f6a6e-5a0b-5c57-9d2e-8f64d0a1c9be",
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
        "explanation": "orders/1: no commit for 4m 12s, usual pause 5s; 2,101 records behind",
        "incident_id": "4f9c2f0e-6a53-5b0f-8f0e-0b9c2f1d7a11",
        "opened_at": 1_795_244_148_123,
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
