"""A group's incident, folded from its status changes: it opens with the first condition and ends
with the last. Pure.

The status that follows from commits, how late the group is, what retention leaves it: each is a
condition with status changes of its own. The incident has the id of its first condition.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from warren.contracts import (
    CONDITIONS,
    Condition,
    GroupIncident,
    GroupIncidentEvent,
    GroupStatusName,
    Status,
    StatusChange,
    StatusChangeEvent,
)
from warren.words import LOST_RECORDS

REPLACED = "incident_replaced"
"""A reason: the end of an incident that nobody saw."""
LOST_CAUSE = "records_lost"
LARGEST = 512 * 1024
"""Bytes of an event, far more than Warren's own have: larger ones go without their partitions, and
then without words.
"""
MOST_IDS = 100
"""Of a condition that came again: the newest, by which it may have been acknowledged."""
TROUBLE: tuple[GroupStatusName, ...] = ("WARN", "ERR")


def fold(known: GroupIncidentEvent | None, by: StatusChangeEvent) -> GroupIncidentEvent | None:
    """The incident after a status change; None where that changes nothing: an end of what is not
    known, or of what was over before. `known`: as it was last.

    The same two give the same event, with the same id.
    """
    before = known.data if known is not None and known.data.is_open else None
    at = round(by.time.timestamp() * 1000)
    conditions = {each.type: each for each in before.conditions} if before else {}
    mine = conditions.get(by.type)
    if (
        mine is not None
        and mine.is_open
        and by.data.incident_id != mine.incident_id
        and by.data.opened_at < mine.since
    ):
        return None  # late, or again: it was over before the open one began
    did: Literal["began", "changed", "ended"] = "ended"
    if by.data.status in TROUBLE:
        conditions[by.type] = _condition(by, at, mine)
        again = mine is not None and conditions[by.type].openings == mine.openings
        did = "changed" if again else "began"
    elif mine is None or not mine.is_open:
        return None
    else:
        conditions[by.type] = mine.model_copy(
            update={
                "until": at,
                "event_id": by.id,
                "change": short(mine.change),
                "end": short(by.data),
            }
        )
    in_order = sorted(conditions.values(), key=lambda each: CONDITIONS.index(each.type))
    event = GroupIncidentEvent(
        id=by.id,
        source=f"{by.source}/incidents",
        subject=by.subject,
        time=by.time,
        data=_incident(before, in_order, by, did),
    )
    for smaller in (short, _bare):
        if len(event.to_bytes()) <= LARGEST:
            break
        event = event.model_copy(update={"data": with_changes(event.data, smaller)})
    return event


def _condition(by: StatusChangeEvent, at: int, mine: Condition | None) -> Condition:
    """One that is open by a change."""
    is_same = mine is not None and mine.incident_id == by.data.incident_id and mine.is_open
    known = [] if mine is None else [*mine.earlier_ids, mine.incident_id]
    return Condition(
        type=by.type,
        incident_id=by.data.incident_id,
        since=by.data.opened_at,
        earlier_ids=[id_ for id_ in dict.fromkeys(known) if id_ != by.data.incident_id][-MOST_IDS:],
        event_id=by.id,
        changed_at=at,
        change=by.data,
        worst=worst_of([by.data.status, *([mine.worst] if mine is not None else [])]),
        openings=1 if mine is None else mine.openings + (not is_same),
    )


def _incident(
    before: GroupIncident | None,
    conditions: Sequence[Condition],
    by: StatusChangeEvent,
    did: Literal["began", "changed", "ended"],
) -> GroupIncident:
    data, at = by.data, round(by.time.timestamp() * 1000)
    is_open = any(each.is_open for each in conditions)
    status = worst_of(each.change.status for each in conditions if each.is_open)
    if not is_open:
        status = data.status  # the group may be gone
    losses = _losses(conditions)
    was = _losses(before.conditions) if before else {}
    passed = sum(count for key, count in was.items() if key not in losses)
    lost_before = (before.lost_before if before else 0) + passed
    lost_now = sum(losses.values())
    if not lost_before and not losses:  # what only a cause says
        lost_now = lost_records(each.change for each in conditions if each.is_open)
    return GroupIncident(
        cluster=data.cluster,
        group=data.group,
        status=status,
        previous=before.status if before else "OK",
        worst=worst_of([*([before.worst] if before else []), status]),
        incident_id=before.incident_id if before else data.incident_id,
        opened_at=before.opened_at if before else data.opened_at,
        changed_at=at,
        revision=before.revision + 1 if before else 1,
        by=by.type,
        did=did,
        loses=bool(losses) and not was,
        closed_at=None if is_open else at,
        reason=None if is_open else data.reason,
        max_total_lag=max(before.max_total_lag if before else 0, data.total_lag),
        lost_records=max(lost_before + lost_now, before.lost_records if before else 0),
        lost_before=lost_before,
        losing_since=(before and before.losing_since) or at if losses else None,
        conditions=list(conditions),
    )


def _losses(conditions: Iterable[Condition]) -> dict[tuple[str, str], int]:
    """Records that open conditions say are lost, by the condition's incident and the objective."""
    return {
        (each.incident_id, breach.objective): round(breach.value or 0)
        for each in conditions
        if each.is_open
        for breach in each.change.objectives or ()
        if breach.limit == LOST_RECORDS and breach.value
    }


def lost_records(changes: Iterable[StatusChange]) -> int:
    """How many are lost, as far as conditions of one group say it."""
    return max((count for change in changes for count in _lost(change)), default=0)


def _lost(change: StatusChange) -> Iterator[int]:
    for breach in change.objectives or ():
        if breach.limit == LOST_RECORDS:
            yield round(breach.value or 0)
    cause = change.cause
    for found in () if cause is None else (cause, *cause.also):
        if found.name == LOST_CAUSE:
            yield round(found.evidence.lost_records or 0)


def replaced(data: GroupIncident, at: int) -> GroupIncident:
    """An incident whose end nobody saw, as if one had been published when the next was there."""
    explanation = "its end was not seen, and another incident has begun since"
    end: dict[str, object] = {"status": "OK", "reason": REPLACED, "previous": data.status}
    end["cause"] = None
    conditions = []
    for each in data.conditions:
        if each.is_open:
            was = short(each.change)
            update = end | {"explanation": explanation, "objectives": was.objectives and []}
            said = was.model_copy(update=update)
            each = each.model_copy(update={"until": at, "change": was, "end": said})
        conditions.append(each)
    return data.model_copy(
        update={
            "status": "OK",
            "previous": data.status,
            "changed_at": at,
            "revision": data.revision + 1,
            "by": data.open[0].type,
            "did": "ended",
            "loses": False,
            "closed_at": at,
            "reason": REPLACED,
            "lost_before": data.lost_records,
            "losing_since": None,
            "conditions": conditions,
        }
    )


def lost_by_now(data: GroupIncident, measured: int) -> int:
    """How many are lost in the incident. `measured`: what is lost now; what has passed may still be
    measured.
    """
    lasts = data.losing_since is not None or not data.lost_before
    return max(data.lost_records, data.lost_before + (measured if lasts else 0))


def worst_of(statuses: Iterable[GroupStatusName]) -> GroupStatusName:
    """OK for none; a group that is gone troubles nobody."""
    return max(
        (each for each in statuses if each in TROUBLE),
        key=lambda name: Status[name],
        default="OK",
    )


def short(change: StatusChange) -> StatusChange:
    """Without its partitions."""
    omitted = change.partitions_omitted + len(change.partitions)
    return change.model_copy(update={"partitions": [], "partitions_omitted": omitted})


def _bare(change: StatusChange) -> StatusChange:
    """Without what it says in words."""
    update: dict[str, object] = {"cause": None, "explanation": None, "labels": None}
    return change.model_copy(update=update | {"objectives": change.objectives and []})


def with_changes(
    data: GroupIncident, made: Callable[[StatusChange], StatusChange]
) -> GroupIncident:
    """With what is made of each status change in it."""
    conditions = [
        each.model_copy(
            update={
                "change": made(each.change),
                "end": None if each.end is None else made(each.end),
            }
        )
        for each in data.conditions
    ]
    return data.model_copy(update={"conditions": conditions})
