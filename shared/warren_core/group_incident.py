"""A group's incident, folded from its status changes: it opens with the first condition and ends
with the last. Pure.

The status that follows from commits, how late the group is, what retention leaves it: each is a
condition with status changes of its own. The incident has the id of its first condition.
"""

from collections.abc import Iterable, Iterator, Sequence

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

LOST_CAUSE = "records_lost"
LARGEST = 512 * 1024
"""Bytes of an event, far more than Warren's own have: larger ones go without their partitions."""
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
    if mine is not None and mine.is_open and _is_past(by, mine):
        return None
    if by.data.status in TROUBLE:
        conditions[by.type] = _condition(by, at, mine)
    elif mine is None or not mine.is_open:
        return None
    else:
        conditions[by.type] = _over(mine, by, at)
    in_order = sorted(conditions.values(), key=lambda each: CONDITIONS.index(each.type))
    event = GroupIncidentEvent(
        id=by.id,
        source=f"{by.source}/incidents",
        subject=by.subject,
        time=by.time,
        data=_incident(before, in_order, by, at),
    )
    return event if len(event.to_bytes()) <= LARGEST else _without_partitions(event)


def _is_past(by: StatusChangeEvent, mine: Condition) -> bool:
    """Whether it is of an incident that was over before the open one began: late, or again."""
    return by.data.incident_id != mine.incident_id and by.data.opened_at < mine.since


def _condition(by: StatusChangeEvent, at: int, mine: Condition | None) -> Condition:
    """One that is open by a change."""
    is_same = mine is not None and mine.incident_id == by.data.incident_id and mine.is_open
    return Condition(
        type=by.type,
        incident_id=by.data.incident_id,
        since=by.data.opened_at,
        seen_at=mine.seen_at if mine is not None and is_same else at,
        event_id=by.id,
        changed_at=at,
        change=by.data,
        worst=worst_of([by.data.status, *([mine.worst] if mine is not None else [])]),
        openings=1 if mine is None else mine.openings + (not is_same),
    )


def _over(mine: Condition, by: StatusChangeEvent, at: int) -> Condition:
    return mine.model_copy(
        update={
            "until": at,
            "event_id": by.id,
            "change": short(mine.change),
            "end": short(by.data),
        }
    )


def _incident(
    before: GroupIncident | None, conditions: Sequence[Condition], by: StatusChangeEvent, at: int
) -> GroupIncident:
    data = by.data
    is_open = any(each.is_open for each in conditions)
    status = worst_of(each.change.status for each in conditions if each.is_open)
    if not is_open:
        status = data.status  # the group may be gone
    lost_before = (before.lost_before if before else 0) + _passed(before, conditions)
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
        closed_at=None if is_open else at,
        reason=None if is_open else data.reason,
        max_total_lag=max(before.max_total_lag if before else 0, data.total_lag),
        lost_records=lost_before + lost_now,
        lost_before=lost_before,
        losing_since=_losing_since(before, conditions, at),
        conditions=list(conditions),
    )


def _losing_since(
    before: GroupIncident | None, conditions: Iterable[Condition], at: int
) -> int | None:
    if not any(any(_breached(each.change)) for each in conditions if each.is_open):
        return None
    since = before.losing_since if before is not None else None
    return at if since is None else since


def _passed(before: GroupIncident | None, conditions: Iterable[Condition]) -> int:
    """Records of losses that were told before and are not any more: that condition is over, has
    begun again, or lasts without them.
    """
    if before is None:
        return 0
    still = {c.incident_id for c in conditions if c.is_open and any(_breached(c.change))}
    return sum(sum(_breached(c.change)) for c in before.open if c.incident_id not in still)


def lost_records(changes: Iterable[StatusChange]) -> int:
    """How many are lost, as far as conditions of one group say it."""
    return max((count for change in changes for count in _lost(change)), default=0)


def _lost(change: StatusChange) -> Iterator[int]:
    yield from _breached(change)
    cause = change.cause
    for found in () if cause is None else (cause, *cause.also):
        if found.name == LOST_CAUSE:
            yield round(found.evidence.lost_records or 0)


def _breached(change: StatusChange) -> Iterator[int]:
    for breach in change.objectives or ():
        if breach.limit == LOST_RECORDS:
            yield round(breach.value or 0)


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


def _without_partitions(event: GroupIncidentEvent) -> GroupIncidentEvent:
    conditions = [
        each.model_copy(update={"change": short(each.change)}) for each in event.data.conditions
    ]
    data = event.data.model_copy(update={"conditions": conditions})
    return event.model_copy(update={"data": data})
