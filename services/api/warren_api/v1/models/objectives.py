"""Objectives that groups do not keep."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import GroupStatusName

from warren_api.model.group import BrokenObjective


class BrokenObjectiveView(BaseModel):
    """A limit that a group does not keep: an incident of its own, whatever the group's status."""

    objective: str = Field(description="Its name; `retention` is the one that is always there")
    limit: str = Field(description="What of it: max_freshness, lost_records and others")
    status: GroupStatusName = Field(description="How bad that is: WARN or ERR")
    since: int
    sentence: str = Field(description="What is wrong, with the figures of when it was told")
    owner: str | None = Field(description="Whose the groups are, as it says; null: it does not")
    told_at: int = Field(description="When that was told: `sentence` has the figures of then")
    incident_id: str

    @classmethod
    def of(cls, broken: BrokenObjective) -> Self:
        breach = broken.breach
        return cls(
            objective=breach.objective,
            limit=breach.limit,
            status=breach.status,
            since=breach.since,
            sentence=breach.sentence,
            owner=breach.owner,
            told_at=broken.told_at,
            incident_id=broken.incident_id,
        )
