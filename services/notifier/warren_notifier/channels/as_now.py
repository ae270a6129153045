"""What people are told of a group as it stands now, not as it was when its incident changed. Pure.

A status change is an event of its moment. Hours later a reminder or a digest has newer figures: the
newest evaluation and measurement. What these do not say keeps the time of its event; what is well
again by them is told as that.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warren.bootstrap import addressed
from warren.contracts import (
    MAX_PARTITIONS,
    STATUS_CHANGED,
    Acknowledged,
    Acknowledgement,
    BadPartition,
    Breach,
    Cause,
    Condition,
    FreshnessEvent,
    GroupIncidentEvent,
    LagEvent,
    MaxLag,
)
from warren.contracts.status import Status
from warren.words import LOST_RECORDS, as_of
from warren_core.judgement.lateness import late_ms
from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import UNKNOWN, Reading, event_lag, read

from warren_notifier.channels.notice import IncidentNow, loss_in

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
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """Of incidents that are over, by their ids."""


def as_now(
    event: GroupIncidentEvent, standing_of: Callable[[GroupIncidentEvent], Standing]
) -> GroupIncidentEvent:
    """The event of a group's incident with what is known now."""
    standing, data = standing_of(event), event.data
    over = [_with_cause(each, standing.causes) for each in data.over]
    if not data.is_open:
        return _with(event, conditions=over)
    found = [_renewed(each, standing) for each in data.open]
    open_now = [_with_address(each, standing) for each, _ in found if each is not None]
    kept = [each for _, each in found if each is not None]
    said = standing.acknowledged
    now = IncidentNow.model_construct(
        **(dict(data) | {"conditions": [*open_now, *over]}),
        seen_at=max([data.changed_at, *(each.changed_at for each in [*open_now, *kept])]),
        kept=kept,
        acknowledged=None if said is None else Acknowledged(at=said.at, by=said.by, why=said.why),
        silenced_until=standing.silenced_until,
    )
    return event.model_copy(update={"data": now})


def _with(event: GroupIncidentEvent, **fields: object) -> GroupIncidentEvent:
    return event.model_copy(update={"data": event.data.model_copy(update=fields)})


Renewed = tuple[Condition | None, Condition | None]
"""What is wrong of a condition, and what is not any more while its incident is not over."""


def _renewed(condition: Condition, standing: Standing) -> Renewed:
    """A condition by the newest judgement of it; as it was where that says nothing of it."""
    lag, freshness = standing.lag, standing.freshness
    if lag is None or not lag.is_known or lag.evaluated_at < condition.changed_at:
        return condition, None
    if condition.type == STATUS_CHANGED:
        if lag.incident is None and lag.status == "OK":
            seen = lag.evaluated_at
            return None, _at(condition, seen, _figures(lag, seen, freshness))
        if lag.incident is None or lag.incident.id != condition.incident_id:
            return condition, None
        update = _of_commits(lag) | _figures(lag, lag.evaluated_at, freshness)
        return _at(condition, lag.evaluated_at, update), None
    if freshness is None or freshness.measured_at < condition.changed_at:
        return condition, None
    if abs(freshness.measured_at - lag.evaluated_at) > APART_MS:
        return condition, None
    return _of_objectives(condition, lag, freshness, standing.limits)


def _of_objectives(
    condition: Condition, lag: LagEvent, freshness: FreshnessEvent, limits: Sequence[Limit]
) -> Renewed:
    seen = freshness.measured_at
    update = _figures(lag, seen, freshness)
    breaches = condition.change.objectives or []
    found = [(each, _reading(each, limits, freshness, lag)) for each in breaches]
    kept = [_dated(each, condition, seen) for each, reading in found if reading.verdict == "kept"]
    broken = [
        _broken(each, reading) if reading.verdict == "broken" else _dated(each, condition, seen)
        for each, reading in found
        if reading.verdict != "kept"
    ]
    return (
        None if kept and not broken else _at(condition, seen, update | {"objectives": broken}),
        _at(condition, seen, update | {"objectives": kept}) if kept else None,
    )


def _at(condition: Condition, when: int, update: dict[str, Any]) -> Condition:
    change = condition.change.model_copy(update=update)
    return condition.model_copy(update={"changed_at": when, "change": change})


def _of_commits(lag: LagEvent) -> dict[str, Any]:
    """The fields of a status change; of a huge group nothing of its partitions."""
    found = {
        "cause": lag.cause,
        "reason": lag.reason,
        "explanation": lag.explanation,
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
    bad = [row for row in rows if row.status != "OK"]
    bad.sort(key=lambda row: (-Status[row.status], -(row.lag or 0)))  # the worst first
    most = max(
        (row for row in rows if row.lag is not None), key=lambda row: row.lag or 0, default=None
    )
    return found | {
        "max_lag": most and MaxLag(topic=most.topic, partition=most.partition, lag=most.lag or 0),
        "partition_counts": dict(Counter(row.status for row in rows)),
        "partitions": bad[:MAX_PARTITIONS],
        "partitions_omitted": max(len(bad) - MAX_PARTITIONS, 0),
    }


def _figures(lag: LagEvent, now: int, freshness: FreshnessEvent | None) -> dict[str, Any]:
    """Lag, and how late and how near loss the group is as of `now`, Unix milliseconds; not where
    that was measured long before.
    """
    if freshness is None or abs(freshness.measured_at - now) > APART_MS:
        return {"total_lag": lag.total_lag, "late_ms": None, "time_to_loss_ms": None}
    left = loss_in(freshness, lag)
    return {
        "total_lag": lag.total_lag,
        "late_ms": late_ms(freshness.freshness_ms, freshness.at_least_ms),
        "time_to_loss_ms": None if left is None else max(freshness.measured_at + left - now, 0),
    }


def _reading(
    breach: Breach, limits: Sequence[Limit], freshness: FreshnessEvent, lag: LagEvent
) -> Reading:
    """Of its limit once more; a burn rate is of hours, which are not known here."""
    named = (one for one in limits if (one.objective, one.name) == (breach.objective, breach.limit))
    limit = next(named, None)
    if limit is None or limit.target_of is not None:
        return UNKNOWN
    return read(limit, freshness, lambda: None if lag.parts > 1 else event_lag(lag.topics))


def _broken(breach: Breach, reading: Reading) -> Breach:
    """With the figures of now; lost records stay lost where the group reads on elsewhere."""
    if breach.limit == LOST_RECORDS and (breach.value or 0) > (reading.value or 0):
        return breach
    fields = ("value", "sentence", "topic", "partition")
    return breach.model_copy(update={name: getattr(reading, name) for name in fields})


def _dated(breach: Breach, condition: Condition, now: int) -> Breach:
    """The sentence carries the time of its event; what is lost stays so at any time."""
    if breach.limit == LOST_RECORDS:
        return breach
    said = as_of(breach.sentence, condition.changed_at, now)
    return breach.model_copy(update={"sentence": said, "value": None})


def _with_cause(over: Condition, causes: Mapping[str, Cause]) -> Condition:
    """What is over by the cause that was known later, where its event has none."""
    cause = over.change.cause
    if over.type != STATUS_CHANGED or (cause is not None and cause.is_known):
        return over
    update = {"cause": causes.get(over.incident_id, cause)}
    return over.model_copy(update={"change": over.change.model_copy(update=update)})


def _with_address(condition: Condition, standing: Standing) -> Condition:
    """Commands in what to do have the cluster's address, or say what is to be put there."""
    change = condition.change
    if change.cause is None:
        return condition
    filled = addressed(change.cause, standing.servers, change.cluster)
    return condition.model_copy(update={"change": change.model_copy(update={"cause": filled})})
