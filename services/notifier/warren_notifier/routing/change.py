"""A change of a group's incident, as routes see it, read from an event of `warren.incidents`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID, uuid5

from warren.contracts import (
    Condition,
    GroupIncidentEvent,
    GroupStatusName,
    OpenIncident,
    StatusChange,
)
from warren.errors import ContractViolation
from warren_core.group_incident import LARGEST, replaced

_ENDS = UUID("5f0f3c8e-9d1b-4c57-8a4e-2f3b8f6f5d20")  # namespace of event ids


class Severity(IntEnum):
    """How bad a change is."""

    OK = 1
    WARN = 2
    ERR = 3


class Subject(NamedTuple):
    """The group that an incident is about. It has at most one open incident."""

    cluster: str
    group: str


class Part(NamedTuple):
    """What a change says of one condition: routes look for those that they are for."""

    event_type: str
    severity: Severity
    further: tuple[str, ...] = ()
    """Objectives' limits that are broken beside the first, by name: each is news."""


@dataclass(frozen=True, slots=True)
class Change:
    """One event."""

    event: GroupIncidentEvent
    incident_id: str
    """As channels know it: see `as_known`."""
    parts: tuple[Part, ...]
    """Open conditions, or those that ended last."""

    @property
    def event_id(self) -> str:
        return self.event.id

    @property
    def subject(self) -> Subject:
        return Subject(self.event.data.cluster, self.event.data.group)

    @property
    def status(self) -> GroupStatusName:
        return self.event.data.status

    @property
    def at(self) -> int:
        """When it happened, Unix milliseconds."""
        return self.event.data.changed_at

    @property
    def opened_at(self) -> int:
        """When its incident began, likewise."""
        return self.event.data.opened_at

    @property
    def conditions(self) -> list[str]:
        """Those that are open, by type; and further limits that are broken."""
        found = [part for part in self.parts if part.severity > Severity.OK]
        further = (limit for part in found for limit in part.further)
        return sorted([*(part.event_type for part in found), *further])

    @property
    def severity(self) -> Severity:
        return severity_of(self.status)

    @property
    def is_sent_once(self) -> bool:
        """Nobody need be reminded: it stays as it is until somebody has time for it."""
        causes = (each.change.cause for each in self.event.data.open)
        first = next((cause.name for cause in causes if cause is not None), "")
        return self.severity is Severity.WARN and first in ("unsubscribed", "never_committed")

    @property
    def closing(self) -> bool:
        """Whether it ends the incident."""
        return not self.event.data.is_open

    @property
    def begins(self) -> bool:
        """Whether a condition opens again in the same incident."""
        data = self.event.data
        mine = (each for each in data.open if each.type == data.by)
        return data.did == "began" and any(each.openings > 1 for each in mine)

    @property
    def loses(self) -> bool:
        """Whether the incident begins to lose records."""
        return self.event.data.loses

    @property
    def lost(self) -> int:
        """Records that conditions have lost that are over."""
        return self.event.data.lost_before


def severity_of(status: GroupStatusName) -> Severity:
    """A group that is gone (NOTFOUND) troubles nobody."""
    return {"WARN": Severity.WARN, "ERR": Severity.ERR}.get(status, Severity.OK)


def read_change(key: bytes | None, value: bytes | None) -> Change:
    """The change in a record. Raises ContractViolation for anything that is no event."""
    if value is not None and len(value) > LARGEST:
        raise ContractViolation(f"larger than {LARGEST} bytes")
    return change_of(GroupIncidentEvent.from_record(key, value))


def change_of(event: GroupIncidentEvent) -> Change:
    parts = [_part(each, each.change) for each in event.data.open]
    parts = parts or [_part(each, each.end or each.change) for each in event.data.ended]
    return Change(event, event.data.incident_id, tuple(parts))


def _part(condition: Condition, change: StatusChange) -> Part:
    # All but one, in an order that does not depend on which is worst.
    broken = sorted(f"{each.objective} {each.limit}" for each in change.objectives or ())
    severity = severity_of(change.status)
    return Part(condition.type, severity, tuple(broken[1:]))


def as_known(change: Change, incident: OpenIncident | None) -> Change:
    """The change, of the open incident if that goes on as the one that its event names."""
    if incident is None or change.incident_id != incident.goes_on_as:
        return change
    return replace(change, incident_id=incident.incident_id)


def lost_end(of: Change, by: Change) -> Change:
    """An event as if one had been published, when the change `by` of the next incident was. `of`:
    the newest that is known of the one that has ended. The same two always give the same.
    """
    ended = replaced(of.event.data, by.at).model_copy(update={"incident_id": of.incident_id})
    return change_of(
        of.event.model_copy(
            update={
                "id": str(uuid5(_ENDS, f"{of.incident_id}|{by.event_id}")),
                "time": datetime.fromtimestamp(by.at / 1000, UTC),
                "data": ended,
            }
        )
    )
