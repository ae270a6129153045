"""What happened in an incident, in one order: status changes, who was told, what people said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from warren.contracts import Acknowledgement, Cause

from warren_api.model.incidents import IncidentRecord
from warren_api.model.notifications import Attempt
from warren_api.model.status_history import RecordedChange


class Moment(NamedTuple):
    """`at`: Unix milliseconds; `what` says which of the others is there."""

    at: int
    what: Literal["change", "attempt", "acknowledgement", "opening"]
    change: RecordedChange | None = None
    attempt: Attempt | None = None
    acknowledgement: Acknowledgement | None = None


def timeline(
    incident: IncidentRecord, attempts: Iterable[Attempt], acknowledgement: Acknowledgement | None
) -> list[Moment]:
    """Newest first. The opening is there, too, where the change that told of it is forgotten."""
    found = [Moment(recorded.at, "change", change=recorded) for recorded in incident.changes]
    if all(recorded.at > incident.opened_at for recorded in incident.changes):
        found.append(Moment(incident.opened_at, "opening"))
    found += [Moment(attempt.event.at, "attempt", attempt=attempt) for attempt in attempts]
    if acknowledgement is not None:
        at = acknowledgement.at
        found.append(Moment(at, "acknowledgement", acknowledgement=acknowledgement))
    return sorted(found, key=lambda moment: moment.at, reverse=True)


def newest_cause(incident: IncidentRecord) -> Cause | None:
    """What was said of it last, where anything spoke clearly for one."""
    causes = (recorded.change.cause for recorded in reversed(incident.changes))
    return next((cause for cause in causes if cause is not None and cause.is_known), None)
