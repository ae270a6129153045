"""The end of an incident whose own was never seen: another one of its subject has begun. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid5

from warren.contracts import StatusChangeEvent

from warren_notifier.routing.change import Change, read_change

REPLACED = "incident_replaced"  # the event's `reason`
_ENDS = UUID("5f0f3c8e-9d1b-4c57-8a4e-2f3b8f6f5d20")  # namespace of event ids


def lost_end(of: Change, by: Change) -> Change:
    """An event as if one had been published, when the change `by` of the next incident was. `of`:
    the newest that is known of the one that has ended. The same two always give the same.
    """
    known = StatusChangeEvent.from_bytes(of.event.encode())
    nothing_bad: dict[str, object] = {
        "status": "OK",
        "previous": known.data.status,
        "incident_id": of.incident_id,
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
    end = known.model_copy(
        update={
            "id": str(uuid5(_ENDS, f"{of.incident_id}|{by.event_id}")),
            "time": datetime.fromtimestamp(by.at / 1000, UTC),
            "data": known.data.model_copy(update=nothing_bad),
        }
    )
    change = read_change(end.to_bytes())
    if change is None:
        raise TypeError("the end of an incident is a change of a status")
    return change
