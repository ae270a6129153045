"""Clusters."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ClusterSummary(BaseModel):
    """A monitored cluster."""

    cluster: str
    configured: bool = Field(description="Named in this API's settings")
    state: str = Field(
        description="Of its collectors, the one with the most trouble: ok, rebuilding, "
        "connecting, failing, refused, unreachable; unknown: none is heard of"
    )
    state_since: int | None
    problem: str | None = Field(description="What the trouble is")
    groups: int = Field(description="Groups that are judged")
    status_counts: dict[str, int] = Field(
        description="Groups by status, as it is to be believed now"
    )
    losing: int = Field(
        description="Groups of which records were deleted before they were consumed"
    )
    endangered: int = Field(
        description="Groups that lose nothing yet but will within the hour, before they catch up"
    )
    not_judged: int = Field(description="Share groups, and groups without a commit")
    topics: int = Field(
        description="Also those that no group consumes, where the collector lists them"
    )
    partitions: int = Field(description="Partitions of all groups")
    total_lag: int = Field(description="Sum of the known lags, records")
    evaluated_at: int | None = Field(description="When a group of it was last judged")


class Clusters(BaseModel):
    """All clusters that are configured or that events have come from, by name."""

    clusters: list[ClusterSummary]
    doubts: list[str] = Field(description="Why this may not be how things are; empty when it is")
