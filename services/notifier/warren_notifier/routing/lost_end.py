"""The end of an incident whose own was never seen: another one of its subject has begun. Pure."""

from datetime import UTC, datetime
from uuid import UUID, uuid5

from warren.contracts import GroupIncidentEvent, StatusChangeEvent

from warren_notifier.routing.change import Change, read_change, whole
from warren_notifier.routing.past_conditions import with_past

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
