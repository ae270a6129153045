"""The past of a group, a topic or a cluster, in columns."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

Count = list[int | None]
_LATE = "Age of the oldest record not consumed, at least: the greatest of the step"
_LOSS = "Until retention may delete a record not consumed: the least of the step"


class Steps(BaseModel):
    """Columns, one entry a step, oldest first; null where nothing is known."""

    model_config = ConfigDict(populate_by_name=True)

    cluster: str
    from_: int = Field(alias="from", description="Begin of the first step")
    to: int = Field(description="End of the last step")
    step: int = Field(description="Length of each step, milliseconds")
    at: list[int] = Field(description="Begin of each step")
    doubts: list[str] = Field(description="Why some of it is not known")


class GroupHistory(Steps):
    """A group's."""

    group: str
    ok_ms: Count = Field(
        description="How long it was OK. With the other statuses less than `step` "
        "where nobody knows the rest; null where only the archive remembers"
    )
    warn_ms: Count
    err_ms: Count
    lag: Count = Field(description="At the end of the step, records")
    lag_max: Count = Field(description="The greatest of the step, records")
    late_ms: Count = Field(description=_LATE)
    time_to_loss_ms: Count = Field(description=_LOSS)
    produced: Count = Field(description="Records")
    consumed: Count = Field(description="Records")
    members: Count = Field(description="At the end of the step")
    rebalances: Count = Field(description="Seen in the step")


class TopicHistory(Steps):
    """A topic's, as the groups that consume it saw it."""

    topic: str
    lag_max: Count = Field(description="Of the group that is furthest behind, records")
    late_ms: Count = Field(description=_LATE)
    produced: Count = Field(description="Records")
    consumed: Count = Field(description="Records, of all groups together")


class ClusterHistory(Steps):
    """A cluster's, all groups together."""

    ok_ms: Count = Field(description="How long groups were OK, added up")
    warn_ms: Count
    err_ms: Count
    lag: Count = Field(description="At the end of the step, records")
    late_ms: Count = Field(description=_LATE)
    time_to_loss_ms: Count = Field(description=_LOSS)
    consumed: Count = Field(description="Records")
