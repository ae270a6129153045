"""A group's incident, made of its conditions: it opens with the first and ends with the last. Pure.

The status that follows from commits, how late the group is, what retention leaves it: each is a
condition with events and an incident of its own, which machines are told of. People are told of
the group. The incident has the id of its first condition, so that who was told of that one alone,
by another version, knows it.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
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
from warren.loss_words import LOST_RECORDS

from warren_notifier.routing.change import (
    LARGEST,
    Change,
    Severity,
    Subject,
    severity_of,
    whole,
)
from warren_notifier.routing.lost_end import ended
from warren_notifier.routing.past_conditions import short, with_past

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
        id=by.event_id if by is not None else _made_up([*conditions, *over]),
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


def _made_up(events: Iterable[StatusChangeEvent]) -> str:
    return str(uuid5(_CHANGES, "|".join(sorted(each.id for each in events))))


def _fitting(event: GroupIncidentEvent) -> GroupIncidentEvent:
    """One that is remembered several times: without its partitions where those are too large."""
    if len(event.model_dump_json()) <= LARGEST:
        return event
    data = event.data
    update = {"conditions": [*map(short, data.conditions)], "ended": [*map(short, data.ended)]}
    return event.model_copy(update={"data": data.model_copy(update=update)})
