"""What people are told of a group as it stands now, not as it was when its incident changed. Pure.

A status change is an event of its moment. Hours later a reminder or a digest has newer figures: the
newest evaluation and measurement. What these do not say keeps the time of its event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from warren.bootstrap import addressed
from warren.contracts import (
    GROUP_INCIDENT,
    MAX_PARTITIONS,
    STATUS_CHANGED,
    Acknowledged,
    Acknowledgement,
    BadPartition,
    Breach,
    FreshnessEvent,
    GroupIncidentEvent,
    LagEvent,
    MaxLag,
    StatusChange,
    StatusChangeEvent,
)
from warren.contracts.status import Status
from warren.words import as_of
from warren_core.judgement.lateness import late_ms
from warren_core.objectives.lag import GroupLag
from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import read

from warren_notifier.channels.told_event import at, type_of

APART_MS = 60_000
"""Figures that were measured so far apart are not told as those of one moment."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a group now, None or empty where nothing is."""

    lag: LagEvent | None = None
    freshness: FreshnessEvent | None = None
    limits: Sequence[Limit] = ()
    acknowledged: Acknowledgement | None = None
    silenced_until: int | None = None
    """Unix milliseconds."""
    servers: str = ""
    """Bootstrap servers of its cluster."""


def ids_of(event: GroupIncidentEvent) -> list[str]:
    """By which an incident may have been acknowledged: its own, then those of its conditions."""
    data = event.data
    return [data.incident_id, *(each.data.incident_id for each in data.conditions)]


def as_now(text: str, standing_of: Callable[[GroupIncidentEvent], Standing]) -> str:
    """The event of a group's incident with what is known now; any other one as it is."""
    if type_of(text) != GROUP_INCIDENT:
        return text
    event = GroupIncidentEvent.from_bytes(text.encode())
    if not event.data.conditions:
        return text
    standing = standing_of(event)
    conditions = [
        _with_address(_renewed(each, standing), standing) for each in event.data.conditions
    ]
    said = standing.acknowledged
    data = event.data.model_copy(
        update={
            "conditions": conditions,
            "acknowledged": said and Acknowledged(at=said.at, by=said.by, why=said.why),
            "silenced_until": standing.silenced_until,
        }
    )
    newest = max([event.time, *(each.time for each in conditions)])
    return event.model_copy(update={"time": newest, "data": data}).model_dump_json()


def _renewed(event: StatusChangeEvent, standing: Standing) -> StatusChangeEvent:
    """A condition by the newest judgement of it; as it was where that says nothing of it."""
    lag, freshness = standing.lag, standing.freshness
    if lag is None or not lag.is_known or lag.evaluated_at < at(event):
        return event
    if event.type == STATUS_CHANGED:
        if lag.incident is None or lag.incident.id != event.data.incident_id:
            return event
        return _at(
            event, lag.evaluated_at, _of_commits(lag) | _lateness(lag.evaluated_at, freshness)
        )
    if freshness is None or abs(freshness.measured_at - lag.evaluated_at) > APART_MS:
        return event
    breaches = [
        _breach(each, event, standing.limits, freshness, lag)
        for each in event.data.objectives or ()
    ]
    update = {"objectives": breaches, "total_lag": lag.total_lag}
    return _at(event, freshness.measured_at, update | _lateness(freshness.measured_at, freshness))


def _at(event: StatusChangeEvent, when: int, update: dict[str, Any]) -> StatusChangeEvent:
    time = datetime.fromtimestamp(when / 1000, UTC)
    data: StatusChange = event.data.model_copy(update=update)
    return event.model_copy(update={"time": time, "data": data})


def _of_commits(lag: LagEvent) -> dict[str, Any]:
    """The fields of a status change; of a huge group nothing of its partitions."""
    found = {
        "cause": lag.cause,
        "reason": lag.reason,
        "explanation": lag.explanation,
        "total_lag": lag.total_lag,
        "partitions_omitted": 0,
    }
    if lag.parts > 1:
        return found | {"max_lag": None, "partition_counts": {}, "partitions": []}
    rows = [
        BadPartition(
            topic=topic,
            partition=number,
            status=columns.status[n],
            lag=columns.lag[n],
            committed=columns.committed[n],
            log_end=columns.log_end[n],
            committed_at=columns.committed_at[n],
            reason=columns.reason[n],
            explanation=columns.explanation[n],
        )
        for topic, columns in lag.topics.items()
        for n, number in enumerate(columns.partition)
    ]
    bad = sorted((row for row in rows if row.status != "OK"), key=_worst_first)
    most = max(
        (row for row in rows if row.lag is not None), key=lambda row: row.lag or 0, default=None
    )
    return found | {
        "max_lag": most and MaxLag(topic=most.topic, partition=most.partition, lag=most.lag or 0),
        "partition_counts": dict(Counter(row.status for row in rows)),
        "partitions": bad[:MAX_PARTITIONS],
        "partitions_omitted": max(len(bad) - MAX_PARTITIONS, 0),
    }


def _worst_first(row: BadPartition) -> tuple[int, int]:
    return -Status[row.status], -(row.lag or 0)


def _lateness(now: int, freshness: FreshnessEvent | None) -> dict[str, int | None]:
    """As of `now`, Unix milliseconds; nothing where that was measured long before."""
    if freshness is None or abs(freshness.measured_at - now) > APART_MS:
        return {"late_ms": None, "time_to_loss_ms": None}
    left = freshness.time_to_loss_ms
    return {
        "late_ms": late_ms(freshness.freshness_ms, freshness.at_least_ms),
        "time_to_loss_ms": None if left is None else max(freshness.measured_at + left - now, 0),
    }


def _breach(
    breach: Breach,
    event: StatusChangeEvent,
    limits: Sequence[Limit],
    freshness: FreshnessEvent,
    lag: LagEvent,
) -> Breach:
    """Read once more; where that says nothing, the sentence carries the time of its event."""
    named = (one for one in limits if (one.objective, one.name) == (breach.objective, breach.limit))
    limit = next(named, None)
    if limit is not None and limit.target_of is None:
        reading = read(limit, freshness, lambda: _group_lag(lag))
        if reading.verdict == "broken":
            fields = ("value", "sentence", "topic", "partition")
            return breach.model_copy(update={name: getattr(reading, name) for name in fields})
    dated = as_of(breach.sentence, at(event), freshness.measured_at)
    return breach.model_copy(update={"sentence": dated, "value": None})


def _group_lag(lag: LagEvent) -> GroupLag | None:
    if lag.parts > 1:
        return None
    return GroupLag(
        {
            topic: (sum(each or 0 for each in rows.lag), None not in rows.lag)
            for topic, rows in lag.topics.items()
        }
    )


def _with_address(event: StatusChangeEvent, standing: Standing) -> StatusChangeEvent:
    """Commands in what to do have the cluster's address, or say what is to be put there."""
    cause = event.data.cause
    if cause is None:
        return event
    filled = addressed(cause, standing.servers, event.data.cluster)
    data = event.data.model_copy(update={"cause": filled})
    return event.model_copy(update={"data": data})
