"""A group's incident, made of its conditions: it opens with the first and ends with the last. Pure.

The status that follows from commits, how late the group is, what retention leaves it: each is a
condition with events and an incident of its own, which machines are told of. People are told of
the group. The incident has the id of its first condition, so that who was told of that one alone,
by another version, knows it.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TypedDict
from uuid import UUID, uuid5

from warren.contracts import (
    CONDITIONS,
    EVENT_TYPES,
    GROUP_INCIDENT,
    GroupIncident,
    GroupIncidentEvent,
    GroupStatusName,
    StatusChangeEvent,
)
from warren.words import LOST_RECORDS

from warren_notifier.routing.change import (
    LARGEST,
    Change,
    Severity,
    Subject,
    read_change,
    severity_of,
    whole,
)

_CHANGES = UUID("8d0d6d0c-4f0e-4f0a-9a44-0c1f7f4c3a52")  # namespace of ids that no event gave


def after(
    known: GroupIncident | None, opens: Iterable[Change], by: Change | None = None
) -> Change | None:
    """The group's incident as its open conditions are now; None where nothing has changed.

    `known`: as it was, if it was open. `by`: the change that led to it; None: what was missed.
    """
    conditions = sorted(
        (_event(each) for each in opens), key=lambda each: CONDITIONS.index(each.type)
    )
    if known is None and not conditions:
        return None
    over = _over(known, conditions, by)
    if by is None and known is not None and not over and _ids(conditions) == _ids(known.conditions):
        return None
    first = min(conditions or over, key=lambda each: each.data.opened_at)
    status = _worst(conditions)
    if not conditions and by is not None and by.closing:
        status = by.status  # the group may be gone
    event = GroupIncidentEvent(
        id=by.event_id
        if by is not None
        else str(uuid5(_CHANGES, "|".join(sorted(each.id for each in [*conditions, *over])))),
        time=max(each.time for each in [*conditions, *over]),
        data=GroupIncident(
            cluster=first.data.cluster,
            group=first.data.group,
            status=status,
            previous=known.status if known is not None else "OK",
            incident_id=known.incident_id if known is not None else first.data.incident_id,
            opened_at=known.opened_at if known is not None else first.data.opened_at,
            conditions=conditions,
            ended=over,
            seen=sorted(
                {*(known.seen if known is not None else ()), *(e.type for e in conditions)}
            ),
            **with_past(known, _no_more(known, conditions), _passed(known, conditions)),
        ),
    )
    event = _fitting(event)
    return whole(
        event,
        event.model_dump_json(),
        begins=_begins_again(known, conditions),
        loses=_loses(conditions) and not _loses(known.conditions if known is not None else ()),
    )


def incident_of(change: Change | None) -> GroupIncident | None:
    """As the change of the whole has it; None where it is over."""
    if change is None or change.subject.event_type != GROUP_INCIDENT or change.closing:
        return None
    return GroupIncidentEvent.from_bytes(change.event.encode()).data


def conditions_of(subject: Subject) -> list[Subject]:
    """The subjects of a group's conditions."""
    return [Subject(subject.cluster, subject.group, kind) for kind in EVENT_TYPES]


def _event(change: Change) -> StatusChangeEvent:
    return StatusChangeEvent.from_bytes(change.event.encode())


def _over(
    known: GroupIncident | None, conditions: Sequence[StatusChangeEvent], by: Change | None
) -> list[StatusChangeEvent]:
    """Conditions that were open and are no more, each by its end where that was seen."""
    found = []
    for each in _no_more(known, conditions):
        if by is not None and by.closing and by.incident_id == each.data.incident_id:
            found.append(_event(by))
        else:
            at = datetime.fromtimestamp(by.at / 1000, UTC) if by is not None else each.time
            found.append(ended(each, by.event_id if by is not None else each.id, at))
    return found


def _no_more(
    known: GroupIncident | None, conditions: Sequence[StatusChangeEvent]
) -> list[StatusChangeEvent]:
    """Conditions that were open and are no more, each as it was."""
    ids, before = _ids(conditions), known.conditions if known is not None else []
    return [each for each in before if each.data.incident_id not in ids]


def _passed(
    known: GroupIncident | None, conditions: Sequence[StatusChangeEvent]
) -> list[StatusChangeEvent]:
    """Conditions that told of a loss, as they did, and last without it."""
    still = {each.data.incident_id for each in conditions if not _loses([each])}
    before = known.conditions if known is not None else []
    return [each for each in before if _loses([each]) and each.data.incident_id in still]


def _begins_again(known: GroupIncident | None, conditions: Iterable[StatusChangeEvent]) -> bool:
    """Whether a condition opens that was open before, and over since, in the same incident."""
    if known is None:
        return False
    before = _ids(known.conditions)
    return any(e.type in known.seen and e.data.incident_id not in before for e in conditions)


def _loses(conditions: Iterable[StatusChangeEvent]) -> bool:
    breaches = (breach for each in conditions for breach in each.data.objectives or ())
    return any(breach.limit == LOST_RECORDS for breach in breaches)


def _ids(events: Iterable[StatusChangeEvent]) -> set[str]:
    return {each.data.incident_id for each in events}


def _worst(conditions: Sequence[StatusChangeEvent]) -> GroupStatusName:
    worst = max((severity_of(each.data.status) for each in conditions), default=Severity.OK)
    names: dict[Severity, GroupStatusName] = {Severity.WARN: "WARN", Severity.ERR: "ERR"}
    return names.get(worst, "OK")


def _fitting(event: GroupIncidentEvent) -> GroupIncidentEvent:
    """One that is remembered several times: without its partitions where those are too large."""
    if len(event.model_dump_json()) <= LARGEST:
        return event
    data = event.data
    update = {"conditions": [*map(short, data.conditions)], "ended": [*map(short, data.ended)]}
    return event.model_copy(update={"data": data.model_copy(update=update)})


REPLACED = "incident_replaced"  # the event's `reason`
_ENDS = UUID("5f0f3c8e-9d1b-4c57-8a4e-2f3b8f6f5d20")  # namespace of event ids


def lost_end(of: Change, by: Change) -> Change:
    """An event as if one had been published, when the change `by` of the next incident was. `of`:
    the newest that is known of the one that has ended. The same two always give the same.
    """
    at = datetime.fromtimestamp(by.at / 1000, UTC)
    if of.subject.is_whole:
        return _whole_end(of, by, at)
    known = StatusChangeEvent.from_bytes(of.event.encode())
    end = ended(known, by.event_id, at, of.incident_id)
    change = read_change(end.to_bytes())
    if change is None:
        raise TypeError("the end of an incident is a change of a status")
    return change


def _whole_end(of: Change, by: Change, at: datetime) -> Change:
    known = GroupIncidentEvent.from_bytes(of.event.encode())
    over = [ended(each, by.event_id, at) for each in known.data.conditions]
    update = {
        "status": "OK",
        "previous": known.data.status,
        "incident_id": of.incident_id,
        "conditions": [],
        "ended": over,
        **with_past(known.data, known.data.conditions),
    }
    data = known.data.model_copy(update=update)
    id_ = str(uuid5(_ENDS, f"{of.incident_id}|{by.event_id}"))
    end = known.model_copy(update={"id": id_, "time": at, "data": data})
    return whole(end, end.model_dump_json())


def ended(
    known: StatusChangeEvent, by: str, at: datetime, incident_id: str | None = None
) -> StatusChangeEvent:
    """The end of an incident whose own was not seen, as of the event with the id `by`."""
    incident_id = incident_id or known.data.incident_id
    nothing_bad: dict[str, object] = {
        "status": "OK",
        "previous": known.data.status,
        "incident_id": incident_id,
        "reason": REPLACED,
        "explanation": "its end was not seen, and another incident has begun since",
        "cause": None,
        "total_lag": 0,
        "late_ms": None,
        "time_to_loss_ms": None,
        "max_lag": None,
        "partition_counts": {},
        "partitions": [],
        "partitions_omitted": 0,
        "objectives": None if known.data.objectives is None else [],
    }
    return known.model_copy(
        update={
            "id": str(uuid5(_ENDS, f"{incident_id}|{by}")),
            "time": at,
            "data": known.data.model_copy(update=nothing_bad),
        }
    )


class Past(TypedDict):
    """Fields of GroupIncident."""

    was: list[StatusChangeEvent]
    lost: int


def with_past(
    known: GroupIncident | None,
    over: Iterable[StatusChangeEvent],
    passed: Iterable[StatusChangeEvent] = (),
) -> Past:
    """The fields of an incident that is `known` once these of its conditions are over, each as it
    was when it was open. `passed`: they last, and the losses that they told of have passed.
    """
    over = list(over)
    was = {each.type: each for each in known.was} if known is not None else {}
    was |= {each.type: short(each) for each in over}
    breaches = (breach for each in (*over, *passed) for breach in each.data.objectives or ())
    lost = sum(round(b.value or 0) for b in breaches if b.limit == LOST_RECORDS)
    return {
        "was": sorted(was.values(), key=lambda each: CONDITIONS.index(each.type)),
        "lost": (known.lost if known is not None else 0) + lost,
    }


def short(event: StatusChangeEvent) -> StatusChangeEvent:
    """Without its partitions."""
    omitted = event.data.partitions_omitted + len(event.data.partitions)
    update = {"partitions": [], "partitions_omitted": omitted}
    return event.model_copy(update={"data": event.data.model_copy(update=update)})
