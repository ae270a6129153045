"""Status changes of one group's conditions, as evaluators publish them."""

from datetime import UTC, datetime
from typing import Any

from warren.contracts import (
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    Breach,
    EventTypeName,
    GroupStatusName,
    StatusChange,
    StatusChangeEvent,
)

OPENED_AT = 1_795_244_400_123


def condition_change(
    type_: EventTypeName, status: GroupStatusName, second: int, turn: int = 1, **data: Any
) -> StatusChangeEvent:
    """Of the condition's incident number `turn`, so many seconds after `OPENED_AT`."""
    at = OPENED_AT + second * 1000
    name = f"{type_.split('.')[2]}-{turn}"
    fields: dict[str, Any] = {
        "cluster": "prod",
        "group": "billing",
        "status": status,
        "previous": "OK",
        "incident_id": name,
        "opened_at": at,
        "total_lag": 7,
        "max_lag": None,
        "partition_counts": {},
        "partitions": [],
    }
    return StatusChangeEvent(
        id=f"{name}-{status}-{second}",
        source="/warren/clusters/prod",
        type=type_,
        subject="billing",
        time=datetime.fromtimestamp(at / 1000, UTC),
        data=StatusChange.model_validate(fields | data),
    )


def stuck(second: int, turn: int = 1, **data: Any) -> StatusChangeEvent:
    return condition_change(STATUS_CHANGED, "ERR", second, turn, **data)


def late(second: int, turn: int = 1, **data: Any) -> StatusChangeEvent:
    return condition_change(FRESHNESS_CHANGED, "WARN", second, turn, **data)


def losing(second: int, lost: int, **data: Any) -> StatusChangeEvent:
    """`lost`: 0 for a loss that is near."""
    breach = Breach(
        objective="retention",
        limit="lost_records" if lost else "min_time_to_loss",
        status="ERR" if lost else "WARN",
        since=OPENED_AT,
        value=lost,
        wanted=0,
        sentence="unread records deleted",
    )
    return condition_change(RETENTION_CHANGED, breach.status, second, objectives=[breach], **data)


def over(type_: EventTypeName, second: int, turn: int = 1, **data: Any) -> StatusChangeEvent:
    return condition_change(type_, "OK", second, turn, previous="ERR", **data)


STORM = [
    late(0),
    stuck(1),
    losing(2, 64),
    over(FRESHNESS_CHANGED, 3),
    over(STATUS_CHANGED, 4),
    over(RETENTION_CHANGED, 5),
]
