"""Verdicts that changed, and the incidents that they make up."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import (
    Acknowledgement,
    Cause,
    EventTypeName,
    Finding,
    GroupStatusName,
    MaxLag,
    PartitionStatusName,
)

from warren_api.group_row import GroupRow
from warren_api.incident_words import Wrong, wrong_in
from warren_api.model.incidents import IncidentRecord
from warren_api.model.status_history import RecordedChange
from warren_api.v1.models.silences import AcknowledgementNote

_TYPE = "What it is about: the status that follows from commits, or objectives"


class RecordedVerdict(BaseModel):
    """One status change of a group."""

    id: str = Field(description="Of the event: the same wherever it is shown")
    type: EventTypeName = Field(description=_TYPE)
    at: int = Field(description="When the group was judged so")
    status: GroupStatusName
    previous: GroupStatusName
    reason: str | None = Field(
        description="Why the status is not OK, for machines; group_deleted or group_expired where "
        "an incident ended without the group being OK"
    )
    explanation: str | None = Field(description="Why the status is not OK, in one sentence")
    cause: Cause | None = Field(description="Whose trouble it was when it changed; null unknown")
    incident_id: str
    total_lag: int
    max_lag: MaxLag | None
    partition_counts: dict[PartitionStatusName, int]

    @classmethod
    def of(cls, recorded: RecordedChange) -> Self:
        change = recorded.change
        return cls(
            id=recorded.id,
            type=recorded.type,
            at=recorded.at,
            status=change.status,
            previous=change.previous,
            reason=change.reason,
            explanation=change.explanation,
            cause=change.cause,
            incident_id=change.incident_id,
            total_lag=change.total_lag,
            max_lag=change.max_lag,
            partition_counts=change.partition_counts,
        )


class IncidentNow(BaseModel):
    """How an open incident stands."""

    sentence: str | None = Field(description="What is wrong; null: nobody can say")
    said_at: int | None = Field(
        description="When `sentence` was said, where its figures are of then; null: of now"
    )
    action: str | None = Field(description="What to do; null: nobody can say")
    also: list[Finding] = Field(description="What follows from it and is seen, too")
    total_lag: int = Field(description="Of the group's newest evaluation, records")
    evaluated_at: int

    @classmethod
    def of(cls, wrong: Wrong | None, row: GroupRow) -> Self:
        event = row.view.event
        return cls(
            sentence=wrong.sentence if wrong else None,
            also=wrong.also if wrong else [],
            said_at=wrong.at if wrong else None,
            action=wrong.action or None if wrong else None,
            total_lag=event.total_lag,
            evaluated_at=event.evaluated_at,
        )


class IncidentView(BaseModel):
    """A time during which a group was not OK, or did not keep its objectives."""

    id: str
    type: EventTypeName = Field(description=_TYPE)
    cluster: str
    group: str
    open: bool
    opened_at: int
    closed_at: int | None = Field(description="null while it is open, or when no event told it")
    worst: GroupStatusName = Field(description="Worst status that is remembered of it")
    max_total_lag: int = Field(description="Largest lag at a status change, records")
    acknowledgement: AcknowledgementNote | None = Field(
        description="Who looks after it; null: nobody has said so"
    )
    changes: list[RecordedVerdict] = Field(
        description="Status changes that are remembered, oldest first, each as it was told then"
    )
    now: IncidentNow | None = Field(
        description="How it stands; null: it is over, or nothing is known of the group"
    )

    @classmethod
    def of(
        cls,
        incident: IncidentRecord,
        acknowledgement: Acknowledgement | None,
        row: GroupRow | None,
    ) -> Self:
        """`row`: the group as it is now."""
        return cls(
            id=incident.id,
            type=incident.type,
            cluster=incident.cluster,
            group=incident.group,
            open=incident.is_open,
            opened_at=incident.opened_at,
            closed_at=incident.closed_at,
            worst=incident.worst,
            max_total_lag=incident.max_total_lag,
            acknowledgement=AcknowledgementNote.of(acknowledgement),
            changes=[RecordedVerdict.of(recorded) for recorded in incident.changes],
            now=IncidentNow.of(wrong_in(incident, row), row) if row and incident.is_open else None,
        )


class Incidents(BaseModel):
    """Incidents, newest first."""

    incidents: list[IncidentView]
    next: str | None = Field(description="Cursor of the next page; null: this is the last one")
    total: int = Field(description="Incidents that match, on all pages")
    remembered_since: int | None = Field(
        description="Time of the oldest status change that is remembered; null: none is"
    )
