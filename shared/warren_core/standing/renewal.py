"""A group's incident by the newest that is known of the group, not as it was when it changed. Pure.

A status change is an event of its moment. Later there are newer figures: the newest evaluation and
measurement. What these do not say keeps the time of its event; what is well again by them is kept
apart, for its condition is not over.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from warren.contracts import (
    MAX_PARTITIONS,
    STATUS_CHANGED,
    Acknowledgement,
    BadPartition,
    Breach,
    Cause,
    Condition,
    FreshnessEvent,
    GroupIncident,
    LagEvent,
    MaxLag,
    StatusChange,
)
from warren.contracts.status import Status
from warren.words import LOST_RECORDS

from warren_core.group_incident import LOST_CAUSE
from warren_core.judgement.counted import counted, topics_not_counted
from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import UNKNOWN, Reading, event_lag, read
from warren_core.ownership import NOBODY_S, Ownership
from warren_core.standing.figures import deleted_of

APART_MS = 60_000
"""Figures that were measured so far apart are not told as those of one moment."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a group at one moment, None or empty where nothing is."""

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
    ownership: Ownership = NOBODY_S
    members: int | None = None

    @property
    def as_counted(self) -> Self:
        """With what counts of the measurement."""
        if self.lag is None or self.freshness is None:
            return self
        return replace(self, freshness=counted(self.freshness, self.lag))


class Renewed(NamedTuple):
    """Conditions, the root first. `kept`: well again since `until`, though their incidents are not
    over.
    """

    open: list[Condition]
    kept: list[Condition]
    over: list[Condition]


def renewed(data: GroupIncident | None, known: Known) -> Renewed:
    """An incident's conditions by what is known; of one that begins, as it was judged already."""
    conditions = data.conditions if data is not None else []
    over = [_with_cause(each, known.causes) for each in conditions if not each.is_open]
    if not any(each.is_open for each in conditions):
        return Renewed([*_judged(known, -1)] if data is None else [], [], over)
    found = [_renewed(each, known) for each in conditions if each.is_open]
    broken = [each for each, _ in found if each is not None]
    kept = [each for _, each in found if each is not None]
    ended = (each.until or 0 for each in over if each.type == STATUS_CHANGED)
    if not any(each.type == STATUS_CHANGED for each in (*broken, *kept)) and data is not None:
        broken = [*_judged(known, max([data.opened_at, *ended])), *broken]
    return Renewed(broken, kept, over)


def _judged(known: Known, after: int) -> Iterable[Condition]:
    """The status that follows from commits, before its incident is known. `after`: what was judged
    until then (Unix milliseconds) is over, or of another incident.
    """
    lag = known.lag
    if lag is None or not lag.is_known or lag.status not in ("WARN", "ERR"):
        return
    if lag.evaluated_at <= after:
        return
    incident = lag.incident
    since = incident.opened_at if incident is not None else lag.evaluated_at
    change = StatusChange(
        cluster=lag.cluster,
        group=lag.group,
        status=lag.status,
        previous="OK",
        incident_id=incident.id if incident is not None else "",
        opened_at=since,
        total_lag=lag.total_lag,
        max_lag=None,
        partition_counts={},
        partitions=[],
    )
    found = Condition(
        type=STATUS_CHANGED,
        incident_id=change.incident_id,
        since=since,
        event_id="",
        changed_at=lag.evaluated_at,
        change=change,
        worst=lag.status,
    )
    yield _at(found, lag.evaluated_at, _of_commits(lag, known.freshness))


def _renewed(condition: Condition, known: Known) -> tuple[Condition | None, Condition | None]:
    """By the newest judgement of it, what is wrong and what is well again; as it was where that
    says nothing of it.
    """
    lag, freshness = known.lag, known.freshness
    if lag is None or not lag.is_known or lag.evaluated_at < condition.changed_at:
        return condition, None
    if condition.type == STATUS_CHANGED:
        if lag.incident is None and lag.status == "OK":
            return None, condition.model_copy(update={"until": lag.evaluated_at})
        if lag.status == "OK":
            return condition, None
        return _at(condition, lag.evaluated_at, _of_commits(lag, freshness)), None
    if freshness is None or freshness.measured_at < condition.changed_at:
        return condition, None
    if not _is_together(lag, freshness):
        return condition, None
    seen = freshness.measured_at
    found = [
        (each, _reading(each, known.limits, freshness, lag))
        for each in condition.change.objectives or []
    ]
    kept = [_dated(each, condition) for each, reading in found if reading.verdict == "kept"]
    broken = [
        _broken(each, reading) if reading.verdict == "broken" else _dated(each, condition)
        for each, reading in found
        if reading.verdict != "kept"
    ]
    return (
        None if kept and not broken else _at(condition, seen, {"objectives": broken}),
        _at(condition, condition.changed_at, {"objectives": kept}).model_copy(
            update={"until": seen}
        )
        if kept
        else None,
    )


def _is_together(lag: LagEvent, freshness: FreshnessEvent) -> bool:
    """Whether they are of one moment, as people see it."""
    return abs(freshness.measured_at - lag.evaluated_at) <= APART_MS


def _at(condition: Condition, when: int, update: dict[str, Any]) -> Condition:
    change = condition.change.model_copy(update=update)
    return condition.model_copy(update={"changed_at": when, "change": change})


def _of_commits(lag: LagEvent, freshness: FreshnessEvent | None) -> dict[str, Any]:
    """The fields of a status change; of a huge group nothing of its partitions."""
    cause = lag.cause
    newer = freshness if freshness is not None and _is_together(lag, freshness) else None
    if cause is not None and cause.name == LOST_CAUSE and newer and newer.lost_records:
        cause = cause.model_copy(update={"sentence": deleted_of(newer)})
    found = {
        "status": lag.status,
        "cause": cause,
        "reason": lag.reason,
        "explanation": lag.explanation,
        "partitions_omitted": 0,
    }
    if lag.parts > 1:
        return found | {"max_lag": None, "partition_counts": {}, "partitions": []}
    rows = [
        (status, columns.lag[n] or 0, topic, n)
        for topic, columns in lag.topics.items()
        for n, status in enumerate(columns.status)
    ]
    bad = [row for row in rows if row[0] != "OK"]
    bad.sort(key=lambda row: (-Status[row[0]], -row[1]))  # the worst first
    left_out = topics_not_counted(lag)
    counting = (row for row in rows if row[2] not in left_out)
    most = max(counting, key=lambda row: row[1], default=None)
    return found | {
        "max_lag": most
        and MaxLag(topic=most[2], partition=lag.topics[most[2]].partition[most[3]], lag=most[1]),
        "partition_counts": dict(Counter(status for status, *_ in rows)),
        "partitions": [_partition(lag, topic, n) for _, _, topic, n in bad[:MAX_PARTITIONS]],
        "partitions_omitted": max(len(bad) - MAX_PARTITIONS, 0),
    }


def _partition(lag: LagEvent, topic: str, row: int) -> BadPartition:
    columns = lag.topics[topic]
    names = BadPartition.model_fields.keys() - {"topic"}
    return BadPartition(topic=topic, **{name: getattr(columns, name)[row] for name in names})


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


def _dated(breach: Breach, condition: Condition) -> Breach:
    """The sentence keeps the time of its event; what is lost stays so at any time."""
    if breach.limit == LOST_RECORDS:
        return breach
    return breach.model_copy(update={"said_at": condition.changed_at, "value": None})


def _with_cause(over: Condition, causes: Mapping[str, Cause]) -> Condition:
    """What is over by the cause that was known later, where its event has none."""
    cause = over.change.cause
    if over.type != STATUS_CHANGED or (cause is not None and cause.is_known):
        return over
    update = {"cause": causes.get(over.incident_id, cause)}
    return over.model_copy(update={"change": over.change.model_copy(update=update)})
