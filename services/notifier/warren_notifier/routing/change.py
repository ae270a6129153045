"""A change of a group's status, as routes see it, read from an event of `warren.lag-status`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from warren.contracts import (
    EVENT_TYPES,
    GROUP_INCIDENT,
    STATUS_CHANGED,
    GroupIncidentEvent,
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
    """What an incident is about: one condition of one group, by its event type, or the group as a
    whole (GROUP_INCIDENT). Each has at most one open incident.
    """

    cluster: str
    group: str
    event_type: str

    @property
    def whole(self) -> Subject:
        return Subject(self.cluster, self.group, GROUP_INCIDENT)

    @property
    def is_whole(self) -> bool:
        return self.event_type == GROUP_INCIDENT


class Part(NamedTuple):
    """What a change says of one condition: routes look for those that they are for."""

    event_type: str
    severity: Severity
    incident_id: str
    further: tuple[str, ...] = ()
    """Objectives' limits that are broken beside the first, by name: each is news."""


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
    cause: str = ""
    further: tuple[str, ...] = ()
    """See `Part`."""
    of_whole: tuple[Part, ...] = ()
    """Of a group's incident: its open conditions, or those that ended last."""
    begins: bool = False
    """Whether a condition of the group's incident opens again."""
    loses: bool = False
    """Whether the group's incident begins to lose records."""
    lost: int = 0
    """Records that conditions of the group's incident have lost that are over."""

    @property
    def parts(self) -> tuple[Part, ...]:
        of_one = Part(self.subject.event_type, self.severity, self.incident_id, self.further)
        return self.of_whole or (of_one,)

    @property
    def conditions(self) -> list[str]:
        """Those that are open, of a group's incident, by their own incidents; and further limits
        that are broken.
        """
        found = [part for part in self.parts if part.severity > Severity.OK]
        ids = [part.incident_id for part in found if self.of_whole]
        return sorted([*ids, *(limit for part in found for limit in part.further)])

    @property
    def severity(self) -> Severity:
        return severity_of(self.status)

    @property
    def is_told_once(self) -> bool:
        """Nobody need be reminded: it stays as it is until somebody has time for it."""
        return self.severity is Severity.WARN and self.cause in ("unsubscribed", "never_committed")

    @property
    def closing(self) -> bool:
        """Whether it ends the group's incident."""
        return self.severity is Severity.OK


def severity_of(status: GroupStatusName) -> Severity:
    """A group that is gone (NOTFOUND) troubles nobody."""
    return {"WARN": Severity.WARN, "ERR": Severity.ERR}.get(status, Severity.OK)


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
        cause=event.data.cause.name if event.data.cause is not None else "",
        further=_further(event.data),
    )


def read_stored(text: str) -> Change | None:
    """The change in an event's text as a state remembers it; a group's incident is among them."""
    value = text.encode()
    try:
        is_whole = _Envelope.model_validate_json(value).type == GROUP_INCIDENT
    except ValidationError:
        is_whole = False
    return whole(GroupIncidentEvent.from_bytes(value), text) if is_whole else read_change(value)


def whole(
    event: GroupIncidentEvent, text: str, *, begins: bool = False, loses: bool = False
) -> Change:
    """The change of a group's incident."""
    data = event.data
    said = data.conditions or data.ended
    causes = (each.data.cause.name for each in said if each.data.cause is not None)
    return Change(
        event_id=event.id,
        subject=Subject(data.cluster, data.group, GROUP_INCIDENT),
        status=data.status,
        incident_id=data.incident_id,
        event=text,
        at=round(event.time.timestamp() * 1000),
        opened_at=data.opened_at,
        cause=next(causes, ""),
        of_whole=tuple(
            Part(
                each.type,
                severity_of(each.data.status),
                each.data.incident_id,
                _further(each.data),
            )
            for each in said
        ),
        begins=begins,
        loses=loses,
        lost=data.lost,
    )


def as_known(change: Change, incident: OpenIncident | None) -> Change:
    """The change, of the open incident if that goes on as the one that its event names."""
    if incident is None or change.incident_id != incident.goes_on_as:
        return change
    return replace(change, incident_id=incident.incident_id)


def _further(change: StatusChange) -> tuple[str, ...]:
    """All but one, in an order that does not depend on which is worst."""
    broken = sorted(f"{each.objective} {each.limit}" for each in change.objectives or ())
    return tuple(broken[1:])
