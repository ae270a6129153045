"""Deliveries with which templates are tried before the first real one."""

from __future__ import annotations

from datetime import UTC, datetime

from warren.contracts import (
    BadPartition,
    Cause,
    MaxLag,
    PendingDelivery,
    StatusChange,
    StatusChangeEvent,
)

from warren_notifier.routing.change import Subject
from warren_notifier.state.delivery import Delivery

_AT = 1_767_225_600_000  # Unix milliseconds


def sample(*, is_open: bool) -> Delivery:
    """An opening, or an end. The name has what must be escaped."""
    bad = BadPartition(
        topic="orders",
        partition=1,
        status="STOP",
        lag=2101,
        committed=1180,
        log_end=3281,
        committed_at=_AT,
    )
    change = StatusChange(
        cluster="sample",
        group='"sample" group \\',
        status="ERR" if is_open else "OK",
        previous="OK" if is_open else "ERR",
        incident_id="sample",
        opened_at=_AT,
        total_lag=2140,
        max_lag=MaxLag(topic="orders", partition=1, lag=2101),
        partition_counts={"OK": 11, "STOP": 1} if is_open else {"OK": 12},
        partitions=[bad] if is_open else [],
        cause=Cause(name="no_members", sentence="Nobody is in the group.") if is_open else None,
    )
    event = StatusChangeEvent(
        id="sample",
        source="/warren/clusters/sample",
        subject=change.group,
        time=datetime.fromtimestamp(_AT / 1000, UTC),
        data=change,
    )
    pending = PendingDelivery(
        delivery_id="sample",
        event_id=event.id,
        incident_id=change.incident_id,
        kind="opened" if is_open else "resolved",
        status=change.status,
        route="sample",
        channel="sample",
        offset=0,
        accepted_at=_AT,
        deadline_at=_AT,
        next_attempt_at=_AT,
    )
    subject = Subject(change.cluster, change.group, event.type)
    return Delivery(0, subject, pending, event.to_bytes().decode())
