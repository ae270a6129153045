"""A consumer group in Burrow's HTTP API, version 3: names, types and key order as in Burrow 1.9.5.

Facts from linkedin/Burrow: core/protocol/{evaluator,storage}.go.
"""

from __future__ import annotations

from warren_api.burrow.answers import Body, float32
from warren_api.model import group
from warren_api.model.burrow_lag import burrow_lag
from warren_api.model.cluster import ClusterView
from warren_api.model.group import GroupView
from warren_api.model.partitions import Edge, PartitionRow, Slots, windows


def cluster_state(view: ClusterView) -> Body:
    """How it stands with the cluster: not Burrow's, our own."""
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


def group_status(view: GroupView, *, all_partitions: bool) -> Body:
    """A group's status with all of its partitions, or only with those that are not OK."""
    partitions = (
        row
        for row in view.partitions
        if all_partitions or group.partition_status(row.status, row.reason) != "OK"
    )
    return {
        "cluster": view.cluster,
        "group": view.group,
        "status": group.group_status(view),
        "complete": float32(view.event.complete),
        "partitions": [_partition(row) for row in partitions],
        "partition_count": view.partition_count,
        "maxlag": _partition(view.burrow_max_lag) if view.burrow_max_lag else None,
        "totallag": view.burrow_total_lag,
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


def group_detail(view: GroupView) -> Body:
    """Topics, each a list with one entry per partition: the index is the partition's number."""
    found = windows(view.event)
    topics: Body = {}
    for row in view.partitions:
        entries = topics.setdefault(row.topic, [])
        entries += [_window([], None) for _ in range(len(entries), row.partition)]
        entries.append(_window(found[row.topic][row.partition], row))
    return topics


def _partition(row: PartitionRow) -> Body:
    return {
        "topic": row.topic,
        "partition": row.partition,
        **_owner(row),
        "status": group.partition_status(row.status, row.reason),
        "start": _offset(row.start),
        "end": _offset(row.end),
        "current_lag": burrow_lag(row),
        "complete": float32(row.complete),
    }


def _window(slots: Slots, row: PartitionRow | None) -> Body:
    return {
        "offsets": [_offset(slot) for slot in slots],
        **_owner(row),
        "current-lag": burrow_lag(row) if row else 0,
    }


def _owner(row: PartitionRow | None) -> Body:
    """The host and client id of the member that has the partition; empty where nobody has."""
    member = row.owner if row else None
    return {
        "owner": member.host if member else "",
        "client_id": member.client_id if member else "",
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
