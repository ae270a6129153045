"""What templates of webhooks can use: Burrow's fields under Burrow's names, and Warren's; and a
sample of it. Pure.

https://github.com/linkedin/Burrow/wiki/Templates. Not known here and so not there: a partition's
`Start` (the oldest commit of Burrow's window). `Partitions` are the bad ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from warren.contracts import (
    BadPartition,
    Cause,
    Finding,
    MaxLag,
    PendingDelivery,
    StatusChange,
    StatusChangeEvent,
)

from warren_notifier.channels.alert import rfc3339
from warren_notifier.channels.incident_text import IncidentText
from warren_notifier.routing.change import Subject
from warren_notifier.state.delivery import Delivery

# Burrow's names in JSON, which `jsonencoder` writes.
_JSON_NAMES = {
    "ClientID": "client_id",
    "CurrentLag": "current_lag",
    "TotalLag": "totallag",
    "TotalPartitions": "partition_count",
}

Fields = dict[str, Any]


def template_fields(
    text: IncidentText, event: str, pending: PendingDelivery, extras: Mapping[str, str]
) -> Fields:
    """`event`: as published."""
    return _burrow(text, pending, extras) | _warren(text, event, pending)


def jsonencoder(value: object) -> str:
    """JSON with the names that it has in Burrow."""
    return json.dumps(_renamed(value))


def _burrow(text: IncidentText, pending: PendingDelivery, extras: Mapping[str, str]) -> Fields:
    change = text.change
    return {
        "Cluster": change.cluster,
        "Group": change.group,
        "ID": pending.incident_id,
        "Start": rfc3339(change.opened_at),
        "Extras": dict(extras),
        "Result": {
            "Cluster": change.cluster,
            "Group": change.group,
            "Status": change.status,
            "Complete": 1.0,
            "Partitions": [_partition(bad) for bad in change.partitions],
            "TotalPartitions": sum(change.partition_counts.values()),
            "Maxlag": _max_lag(change.max_lag),
            "TotalLag": change.total_lag,
        },
    }


def _warren(text: IncidentText, event: str, pending: PendingDelivery) -> Fields:
    change = text.change
    cause = change.cause if change.cause is not None and change.cause.is_known else None
    published = json.loads(event)
    published["data"]["incident_id"] = pending.incident_id
    return {
        "kind": pending.kind,
        "status": change.status,
        "title": text.title,
        "short": text.what,
        "headline": text.headline,
        "facts": [{"name": name, "value": value} for name, value in text.facts],
        "cause": text.dated(cause.sentence) if cause is not None else "",
        "action": (cause.action if cause is not None else "") or "",
        "also": [_also(found, text) for found in cause.also] if cause is not None else [],
        "lateness_ms": text.lateness_ms,
        "time_to_loss_ms": text.time_to_loss_ms,
        "owner": text.owner,
        "runbook": text.runbook,
        "labels": dict(text.change.labels or {}),
        "link": text.link,
        "acknowledge": text.acknowledge,
        "delivery_id": pending.delivery_id,
        "incident_id": pending.incident_id,
        "route": pending.route,
        "channel": pending.channel,
        "repeat": pending.repeat,
        "left_out": pending.left_out,
        "event": published,
    }


def _also(found: Finding, text: IncidentText) -> Fields:
    return {"name": found.name, "cause": text.dated(found.sentence), "action": found.action or ""}


def _partition(bad: BadPartition) -> Fields:
    return {
        "Topic": bad.topic,
        "Partition": bad.partition,
        "Owner": "",
        "ClientID": "",
        "Status": bad.status,
        "End": {"Offset": bad.committed, "Timestamp": bad.committed_at, "Lag": bad.lag},
        "CurrentLag": bad.lag,
        "Complete": 1.0,
    }


def _max_lag(worst: MaxLag | None) -> Fields | None:
    if worst is None:
        return None
    return {"Topic": worst.topic, "Partition": worst.partition, "CurrentLag": worst.lag}


def _renamed(value: object) -> object:
    if isinstance(value, dict):
        return {_JSON_NAMES.get(k, k.lower()): _renamed(inner) for k, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner) for inner in value]
    return value


_SAMPLED_AT = 1_767_225_600_000  # Unix milliseconds


def sample(*, is_open: bool) -> Delivery:
    """An opening, or an end, to try templates with. The name has what must be escaped."""
    bad = BadPartition(
        topic="orders",
        partition=1,
        status="STOP",
        lag=2101,
        committed=1180,
        log_end=3281,
        committed_at=_SAMPLED_AT,
    )
    change = StatusChange(
        cluster="sample",
        group='"sample" group \\',
        status="ERR" if is_open else "OK",
        previous="OK" if is_open else "ERR",
        incident_id="sample",
        opened_at=_SAMPLED_AT,
        total_lag=2140,
        max_lag=MaxLag(topic="orders", partition=1, lag=2101),
        partition_counts={"OK": 11, "STOP": 1} if is_open else {"OK": 12},
        partitions=[bad] if is_open else [],
        cause=Cause(name="no_members", sentence="Nobody is in the group.") if is_open else None,
    )
    event = StatusChangeEvent(
        id="sample",
        source="/warren/clusters/sample",
        subject=change.group,
        time=datetime.fromtimestamp(_SAMPLED_AT / 1000, UTC),
        data=change,
    )
    pending = PendingDelivery(
        delivery_id="sample",
        event_id=event.id,
        incident_id=change.incident_id,
        kind="opened" if is_open else "resolved",
        status=change.status,
        route="sample",
        channel="sample",
        offset=0,
        accepted_at=_SAMPLED_AT,
        deadline_at=_SAMPLED_AT,
        next_attempt_at=_SAMPLED_AT,
    )
    subject = Subject(change.cluster, change.group, event.type)
    return Delivery(0, subject, pending, event.to_bytes().decode())
