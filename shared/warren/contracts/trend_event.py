"""`warren.trends`: what one minute of a consumer group was like."""

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warren.contracts.event import EventOfGroup, Moment
from warren.contracts.status import GroupStatusName

MINUTE_MS = 60_000
_COUNT = "records; null unknown"
Count = int | None


class TrendTopics(BaseModel):
    """Columns, one entry per topic."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    topic: list[str]
    lag: list[Count] = Field(description=f"At the last evaluation, {_COUNT}")
    produced: list[Count] = Field(description=_COUNT)
    consumed: list[Count] = Field(description=_COUNT)
    late_ms: list[int | None] = Field(description="The greatest of the minute; null unknown")

    @model_validator(mode="after")
    def _columns(self) -> Self:
        if len({len(column) for _, column in self}) > 1:
            raise ValueError("columns differ in length")
        return self


class TrendEvent(EventOfGroup):
    """A minute of a group, published with its first evaluation after it.

    A worker that died has told nothing of its last minute, or a part: then the next one tells of
    the rest. Events about the same minute add up.
    """

    topic_name: ClassVar[str] = "trends"

    minute: Moment = Field(multiple_of=MINUTE_MS, description="Its begin, Unix milliseconds")
    status_ms: dict[GroupStatusName, int] = Field(
        description="How long the group had each status; what is missing to a minute nobody knows"
    )
    lag: int | None = Field(description=f"At the last evaluation, {_COUNT}")
    lag_max: int | None = Field(description=f"The greatest of the minute, {_COUNT}")
    late_ms: int | None = Field(
        description="Age of the oldest record not consumed, at least: the greatest of the minute; "
        "null unknown"
    )
    time_to_loss_ms: int | None = Field(
        description="Until retention may delete a record not consumed, the least of the minute; "
        "null: there is none, or it is unknown"
    )
    produced: int | None = Field(description=f"By how much the log ends grew, {_COUNT}")
    consumed: int | None = Field(
        description=f"By how much the committed offsets advanced, {_COUNT}"
    )
    members: int | None = Field(description="At the end of the minute; null unknown")
    rebalances: int | None = Field(description="Seen in the minute; null unknown")
    topics: TrendTopics = Field(
        description="The topics of the group; of more than 100 those with the largest lag"
    )
