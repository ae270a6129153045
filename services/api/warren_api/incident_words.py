"""What is wrong in an incident: while it is open as it is now, else as it was told, and when."""

from __future__ import annotations

from typing import NamedTuple

from warren.contracts import STATUS_CHANGED, Cause, Finding

from warren_api.group_row import GroupRow
from warren_api.model.incidents import IncidentRecord

_CLOSING = ("OK", "NOTFOUND")


class Wrong(NamedTuple):
    """`cause`: where anything speaks clearly for one. `at`: when this was said (Unix milliseconds);
    None: it is so now.
    """

    sentence: str
    cause: Cause | None = None
    at: int | None = None

    @property
    def action(self) -> str:
        """What to do; empty where nobody can say."""
        return (self.cause.action if self.cause else None) or ""

    @property
    def also(self) -> list[Finding]:
        """What follows from the cause and is seen, too."""
        return self.cause.also if self.cause else []


def wrong_in(incident: IncidentRecord, row: GroupRow | None) -> Wrong | None:
    """`row`: the group as it is now. None where nothing was said."""
    now = _now(incident, row) if incident.is_open and row is not None else None
    return now or _told(incident)


def _now(incident: IncidentRecord, row: GroupRow) -> Wrong | None:
    if incident.type != STATUS_CHANGED:
        mine = [each for each in row.view.broken if each.incident_id == incident.id]
        if not mine:
            return None
        said = row.broken_now(mine[0])
        return Wrong(said.sentence, at=said.at)
    event = row.view.event
    if event.incident is None or event.incident.id != incident.id:
        return None
    said_by = row.cause.sentence if row.cause else event.explanation
    at = None if row.verdict.is_known else event.evaluated_at
    return Wrong(said_by, row.cause, at) if said_by else None


def _told(incident: IncidentRecord) -> Wrong | None:
    """The last cause; where there is none, the last explanation."""
    bad = [each for each in reversed(incident.changes) if each.change.status not in _CLOSING]
    for recorded in bad:
        cause = recorded.change.cause
        if cause is not None and cause.is_known:
            return Wrong(cause.sentence, cause, recorded.at)
    for recorded in bad:
        if recorded.change.explanation:
            return Wrong(recorded.change.explanation, at=recorded.at)
    return None
