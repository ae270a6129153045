"""Verdicts: whether a group keeps its objectives, and what is to be told when that changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from warren.contracts import (
    FRESHNESS_CHANGED,
    MAX_OBJECTIVES,
    RETENTION_CHANGED,
    Breach,
    EndReasonName,
    EventTypeName,
    FreshnessEvent,
    Status,
    StatusChange,
    StatusChangeEvent,
    group_name,
)
from warren.words import deleted

from warren_core.judgement.incidents import derived_id
from warren_core.judgement.lateness import late_ms
from warren_core.objectives.burn import NEVER, History, Standing
from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import AskLag, Reading, read

TYPES: tuple[EventTypeName, ...] = (FRESHNESS_CHANGED, RETENTION_CHANGED)
_ENDS: Mapping[EndReasonName | None, str] = {
    "group_deleted": "the group was deleted",
    "objective_removed": "the objective was removed from the settings",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


MORE_LOST = 1.1
"""Times what was told: who loses a little now and then is not told of each time."""


class OpenIncident(NamedTuple):
    """Of one type of event."""

    status: Status
    opened_at: int


@dataclass(frozen=True, slots=True)
class Objectives:
    """How a group stands to its limits, by their keys, and what was told of it."""

    standings: Mapping[str, Standing] = field(default_factory=dict)
    incidents: Mapping[EventTypeName, OpenIncident] = field(default_factory=dict)
    histories: Mapping[str, History] = field(default_factory=dict)
    """Of limits with a target."""
    reported_lost: Mapping[str, float] = field(default_factory=dict)
    """How many lost records were told of, by the keys of their limits."""
    seen_lost: Mapping[str, float] = field(default_factory=dict)
    """How many records those partitions had lost that were behind their logs at the last look,
    likewise: once they are read again, others may be lost.
    """


class Verdict(NamedTuple):
    """`changes`: what is to be told, and is not decided again."""

    objectives: Objectives
    changes: list[StatusChangeEvent]


def judge(
    event: FreshnessEvent, before: Objectives, limits: Sequence[Limit], lag: AskLag
) -> Verdict:
    """Say which limits are broken, whenever these are others or the status is, and how many records
    were lost in the end. Limits that are no longer there are forgotten; what they alone had opened
    is closed.
    """
    now = event.measured_at
    was_open = {key for key, standing in before.standings.items() if standing.is_open}
    standings, histories, seen_lost = _standings(event, before, limits, lag)
    incidents, changes, reported_lost = dict(before.incidents), [], dict(before.reported_lost)
    for kind in TYPES:
        broken = sorted(_open(limits, standings, kind), key=_badness)
        status = broken[0][0].status if broken else Status.OK
        known = incidents.get(kind)
        previous = Status.OK if known is None else known.status
        was_broken = was_open - {limit.key for limit in limits if limit.event_type != kind}
        is_as_before = {limit.key for limit, _ in broken} == was_broken or status is Status.OK
        more_lost = any(_is_final_loss(*each, before, now) for each in broken)
        if status is previous and is_as_before and not more_lost:
            continue
        is_removed = was_broken.isdisjoint(limit.key for limit in limits)
        opened_at = now if known is None else known.opened_at
        about = _About(event.cluster, event.group, kind, now, opened_at, previous)
        late = event if status is not Status.OK else None
        observed = lag()
        total = 0 if observed is None else observed.total
        breaches = [_breach(*each, event) for each in broken]
        reported_lost |= {
            limit.key: standing.value or 0
            for limit, standing in broken
            if limit.name == "lost_records"
        }
        labels = dict(limits[0].labels) if limits else {}
        end: EndReasonName | None = None
        if status is Status.OK and is_removed:
            end = "objective_removed"
        changes.append(_change(about, status, total, breaches, late, labels, end))
        if status is Status.OK:
            del incidents[kind]
        else:
            incidents[kind] = OpenIncident(status, opened_at)
    kept = {key: standing for key, standing in standings.items() if standing != NEVER}
    reported_lost = {key: count for key, count in reported_lost.items() if key in kept}
    seen_lost = {key: count for key, count in seen_lost.items() if key in kept}
    return Verdict(Objectives(kept, incidents, histories, reported_lost, seen_lost), changes)


def _standings(
    event: FreshnessEvent, before: Objectives, limits: Sequence[Limit], lag: AskLag
) -> tuple[dict[str, Standing], dict[str, History], dict[str, float]]:
    """By the limits' keys. A burn rate comes after the limit that it is about."""
    now = event.measured_at
    readings: dict[str, Reading] = {}
    standings: dict[str, Standing] = {}
    histories: dict[str, History] = {}
    seen_lost: dict[str, float] = {}
    for limit in limits:
        known_standing = before.standings.get(limit.key, NEVER)
        if (base := limit.target_of) is None:
            reading = read(limit, event, lag)
            if limit.name == "lost_records":
                seen = before.seen_lost.get(limit.key, 0)
                # What a look tells of how many are lost that the group has not passed yet.
                lost = (reading.value or 0) if reading.verdict == "broken" else 0
                seen_lost[limit.key] = seen if reading.verdict == "unknown" else lost
                reading = _lost_in_all(reading, known_standing, seen)
        else:
            verdict = readings[base.key].verdict
            known = before.histories.get(limit.key) or History(now, verdict)
            histories[limit.key] = known.after(verdict, now)
            reading = histories[limit.key].burns(limit.wanted, base.name)
        readings[limit.key] = reading
        standings[limit.key] = known_standing.after(reading, limit, now)
    return standings, histories, seen_lost


def _lost_in_all(reading: Reading, standing: Standing, seen: float) -> Reading:
    """All that were lost since the limit is broken: what the group has passed stays lost."""
    if reading.verdict != "broken":
        return reading
    more = (reading.value or 0) - seen
    if more <= 0 and standing.value is not None:
        return Reading("broken", *standing[3:])
    total = (standing.value or 0) + more
    said = deleted(round(total), f"{reading.topic}/{reading.partition}", reading.partitions)
    return reading._replace(value=total, sentence=said)


def ended(cluster: str, group: str, now: int, before: Objectives) -> list[StatusChangeEvent]:
    """The group is no more. `now`: when it was last measured."""
    return [
        _change(
            _About(cluster, group, kind, now, incident.opened_at, incident.status),
            Status.NOTFOUND,
            0,
            [],
            end="group_deleted",
        )
        for kind, incident in before.incidents.items()
    ]


class _About(NamedTuple):
    """What tells one change from all others. `previous`: the status before."""

    cluster: str
    group: str
    kind: EventTypeName
    now: int
    opened_at: int
    previous: Status


def _open(
    limits: Sequence[Limit], standings: Mapping[str, Standing], kind: EventTypeName
) -> Iterator[tuple[Limit, Standing]]:
    for limit in limits:
        if limit.event_type == kind and standings[limit.key].is_open:
            yield limit, standings[limit.key]


def _is_final_loss(limit: Limit, standing: Standing, before: Objectives, now: int) -> bool:
    """Whether it is found just now that no more is lost, and clearly more was than was told."""
    reported = before.reported_lost.get(limit.key)
    more = reported is not None and (standing.value or 0) >= MORE_LOST * reported
    return more and standing.kept_since == now


def _badness(broken: tuple[Limit, Standing]) -> tuple[int, int]:
    limit, standing = broken
    return -limit.status, standing.broken_since or 0


def _breach(limit: Limit, standing: Standing, event: FreshnessEvent) -> Breach:
    assert standing.broken_since is not None  # it is open
    return Breach(
        objective=limit.objective,
        limit=limit.name,
        status=group_name(limit.status),
        since=standing.broken_since,
        value=standing.value,
        wanted=limit.wanted,
        sentence=standing.sentence,
        topic=standing.topic,
        partition=standing.partition,
        undated=_reason_of(event, standing.topic, standing.partition) == "bad_timestamp",
        owner=limit.owner,
        runbook=limit.runbook,
    )


def _reason_of(event: FreshnessEvent, topic: str | None, partition: int | None) -> str | None:
    """Of a partition's value, at this look."""
    rows = event.topics.get(topic or "")
    if rows is None or partition not in rows.partition:
        return None
    return rows.reason[rows.partition.index(partition)]


def _change(
    about: _About,
    status: Status,
    total_lag: int,
    breaches: list[Breach],
    late: FreshnessEvent | None = None,
    labels: dict[str, str] | None = None,
    end: EndReasonName | None = None,
) -> StatusChangeEvent:
    cluster, group, kind, now, opened_at, previous = about
    reason = breaches[0].limit if breaches else end
    explanation = "; ".join(breach.sentence for breach in breaches) or _ENDS.get(end)
    return StatusChangeEvent(
        id=derived_id(cluster, group, kind, now, previous.name, status.name),
        source=f"/warren/clusters/{cluster}",
        type=kind,
        subject=group,
        time=_EPOCH + timedelta(milliseconds=now),
        data=StatusChange(
            cluster=cluster,
            group=group,
            status=group_name(status),
            previous=group_name(previous),
            reason=reason,
            explanation=explanation,
            labels=labels or None,
            incident_id=derived_id(cluster, group, kind, opened_at),
            opened_at=opened_at,
            total_lag=total_lag,
            late_ms=None if late is None else late_ms(late.freshness_ms, late.at_least_ms),
            time_to_loss_ms=None if late is None else late.time_to_loss_ms,
            max_lag=None,
            partition_counts={},
            partitions=[],
            objectives=breaches[:MAX_OBJECTIVES],
        ),
    )
