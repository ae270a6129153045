"""A change of a group's status, as routes see it, read from an event of `warren.lag-status`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from warren.contracts import (
    EVENT_TYPES,
    STATUS_CHANGED,
    GroupStatusName,
    OpenIncident,
    StatusChange,
    StatusChangeEvent,
)
from warren.errors import ContractViolation
from warren.words import LATEST_MOMENT

LARGEST = 512 * 1024
"""Bytes of an event, far more than Warren's own have. What is remembered of several, each up to
twice as large where it is text in text, must fit into one record.
"""


class Severity(IntEnum):
    """How bad a change is."""

    OK = 1
    WARN = 2
    ERR = 3


class Subject(NamedTuple):
    """What an incident is about: one event type of one group has at most one open incident."""

    cluster: str
    group: str
    event_type: str


@dataclass(frozen=True, slots=True)
class Change:
    """One event. `event` is its text exactly as published."""

    event_id: str
    subject: Subject
    status: GroupStatusName
    incident_id: str
    """As channels know it: see `as_known`."""
    event: str
    at: int = 0
    """When it happened, Unix milliseconds."""
    opened_at: int = 0
    """When its incident began, likewise."""
    topic: str = ""
    """Of the worst partition."""
    owner: str = ""
    """Of the worst objective that is not kept."""
    cause: str = ""

    @property
    def severity(self) -> Severity:
        """A group that is gone (NOTFOUND) troubles nobody."""
        return {"WARN": Severity.WARN, "ERR": Severity.ERR}.get(self.status, Severity.OK)

    @property
    def closing(self) -> bool:
        """Whether it ends the group's incident."""
        return self.severity is Severity.OK


class _Envelope(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str


def read_change(value: bytes | None) -> Change | None:
    """The change in an event's bytes; None for a type of event that this version does not know.

    Raises ContractViolation for anything that is no event.
    """
    if value is not None and len(value) > LARGEST:
        raise ContractViolation(f"larger than {LARGEST} bytes")
    try:
        event_type = _Envelope.model_validate_json(value or b"").type
    except ValidationError:
        event_type = STATUS_CHANGED  # its contract says best what is wrong
    if event_type not in EVENT_TYPES:
        return None
    event = StatusChangeEvent.from_bytes(value)
    if not 0 <= event.data.opened_at <= LATEST_MOMENT:
        raise ContractViolation("data.opened_at: no Unix time in milliseconds")
    if value is None:  # from_bytes has refused it
        raise ContractViolation("no value")
    return Change(
        event_id=event.id,
        subject=Subject(event.data.cluster, event.data.group, event.type),
        status=event.data.status,
        incident_id=event.data.incident_id,
        event=value.decode(),
        at=round(event.time.timestamp() * 1000),
        opened_at=event.data.opened_at,
        topic=_topic(event.data),
        owner=next((b.owner for b in event.data.objectives or () if b.owner), ""),
        cause=event.data.cause.name if event.data.cause is not None else "",
    )


def as_known(change: Change, incident: OpenIncident | None) -> Change:
    """The change, of the open incident if that goes on as the one that its event names."""
    if incident is None or change.incident_id != incident.goes_on_as:
        return change
    return replace(change, incident_id=incident.incident_id)


def _topic(change: StatusChange) -> str:
    worst = [b.topic for b in change.objectives or () if b.topic]
    worst += [partition.topic for partition in change.partitions[:1]]
    if change.max_lag is not None:
        worst.append(change.max_lag.topic)
    return next(iter(worst), "")
