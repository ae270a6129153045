"""The JSON bodies of Burrow's HTTP API, version 3: names, types and key order as in Burrow 1.9.5.

Facts from linkedin/Burrow: core/internal/httpserver/structs.go (envelopes) and
core/protocol/{evaluator,storage}.go (statuses). Warren knows no owner and no client id yet: both
are empty strings, as Burrow gives them when it does not know.
"""

from __future__ import annotations

import socket
from typing import Any

from warren_api.cluster_view import ClusterView
from warren_api.go_json import float32
from warren_api.group_view import Edge, GroupView, PartitionRow

Body = dict[str, Any]
TOPIC_REFRESH = 30  # seconds, as in the collector


def request_info(path: str) -> Body:
    """`path` as the client meant it, that is decoded."""
    return {"url": path, "host": socket.gethostname()}


def error(message: str, path: str) -> Body:
    return {"error": True, "message": message, "request": request_info(path)}


def cluster_list(clusters: list[str], path: str) -> Body:
    return {
        "error": False,
        "message": "cluster list returned",
        "clusters": clusters,
        "request": request_info(path),
    }


def cluster_detail(view: ClusterView, servers: list[str], interval: float, path: str) -> Body:
    """Burrow's description of the cluster's module; `state`, how it stands with it, is our own."""
    return {
        "error": False,
        "message": "cluster module detail returned",
        "module": {
            "class-name": "kafka",
            "servers": servers,
            "client-profile": {
                "name": "",
                "client-id": "warren",
                "kafka-version": "",
                "tls": None,
                "sasl": None,
            },
            "topic-refresh": TOPIC_REFRESH,
            "offset-refresh": max(round(interval), 1),
        },
        "state": _cluster_state(view),
        "request": request_info(path),
    }


def _cluster_state(view: ClusterView) -> Body:
    return {
        "state": view.state,
        "since": view.since,
        "problem": view.problem,
        "groups": sum(event.groups for event in view.events),
        "positions": sum(event.positions for event in view.events),
        "backlog": sum(event.backlog for event in view.events),
        "log_ends_at": view.log_ends_at,
        "collectors": [
            event.model_dump(exclude={"v", "cluster"}, mode="json") for event in view.events
        ],
    }


def consumer_list(groups: list[str], path: str) -> Body:
    return {
        "error": False,
        "message": "consumer list returned",
        "consumers": groups,
        "request": request_info(path),
    }


def consumer_status(status: Body, path: str) -> Body:
    """Also for a group that is not found: that is a status, not an error."""
    return {
        "error": False,
        "message": "consumer status returned",
        "status": status,
        "request": request_info(path),
    }


def group_status(view: GroupView, *, all_partitions: bool) -> Body:
    """A group's status with all of its partitions, or only with those that are not OK."""
    partitions = (row for row in view.partitions if all_partitions or row.status != "OK")
    return {
        "cluster": view.cluster,
        "group": view.group,
        "status": view.event.status,
        "complete": float32(view.event.complete),
        "partitions": [_partition(row) for row in partitions],
        "partition_count": view.partition_count,
        "maxlag": _partition(view.max_lag) if view.max_lag else None,
        "totallag": view.event.total_lag,
    }


def group_not_found(cluster: str, group: str) -> Body:
    return {
        "cluster": cluster,
        "group": group,
        "status": "NOTFOUND",
        "complete": float32(1.0),
        "partitions": [],
        "partition_count": 0,
        "maxlag": None,
        "totallag": 0,
    }


def _partition(row: PartitionRow) -> Body:
    return {
        "topic": row.topic,
        "partition": row.partition,
        "owner": "",
        "client_id": "",
        "status": row.status,
        "start": _offset(row.start),
        "end": _offset(row.end),
        "current_lag": row.known_lag,
        "complete": float32(row.complete),
    }


def _offset(edge: Edge | None) -> Body | None:
    if edge is None:
        return None
    return {
        "offset": edge.offset,
        "timestamp": edge.at,
        "observedAt": edge.observed_at,
        "lag": edge.lag,
    }
