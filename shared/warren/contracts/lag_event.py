"""`warren.lag`: every evaluation of a group, whole; of a huge one in parts."""

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warren.contracts.cause import Cause
from warren.contracts.event import (
    Count,
    EventOfGroup,
    Milliseconds,
    Moment,
    Offset,
    Row,
    Share,
    is_none,
    nulls,
    require_equal_lengths,
)
from warren.contracts.group_key import whole_key
from warren.contracts.reason import EXPLANATION, REASON
from warren.contracts.status import GroupStatusName, PartitionStatusName


class Incident(BaseModel):
    """The time during which a group is not OK. The id stays until it is OK again."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    opened_at: Moment


class WindowEdge(BaseModel):
    """Oldest or newest commit of each partition's window; null where the window is empty."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    offset: list[int | None]
    at: list[int | None] = Field(description="Commit time, Unix milliseconds")
    observed_at: list[int | None] = Field(description="When Warren observed it, Unix milliseconds")
    lag: list[int | None] = Field(description="Lag at that time; null when it was unknown")


class TopicLag(BaseModel):
    """Columns, one entry per partition of the topic."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    partition: list[Row]
    status: list[PartitionStatusName]
    committed: list[Offset]
    committed_at: list[Milliseconds]
    log_start: list[Offset]
    log_end: list[Offset]
    lag: list[int | None] = Field(
        description="What can be read: log end - committed offset, or - log start where what is "
        "between was deleted, >= 0; one less in topics of last_processed; null unknown. Where "
        "committed is -1, at least so much: what was written since it was first seen so"
    )
    complete: list[Share] = Field(description="Filled share of the window, 0 to 1")
    window_start: WindowEdge
    window_end: WindowEdge
    reason: list[str | None] = Field(default_factory=nulls, description=REASON)
    explanation: list[str | None] = Field(default_factory=nulls, description=EXPLANATION)

    @model_validator(mode="after")
    def _columns(self) -> Self:
        require_equal_lengths(self)
        for edge in (self.window_start, self.window_end):
            if any(len(column) != len(self.partition) for _, column in edge):
                raise ValueError("window columns differ in length from partition")
        return self


class LagEvent(EventOfGroup):
    """One evaluation. The topic is compacted: the newest per group is its state."""

    topic_name: ClassVar[str] = "lag"

    evaluated_at: Moment = Field(description="observed_at of the judged offset event")
    position: int = Field(default=-1, ge=-1)
    status: GroupStatusName
    is_known: bool = Field(
        default=True,
        exclude_if=bool,
        description="false: UNKNOWN. No partition is known to be bad, some are unknown; status and "
        "incident are those that were known last. Absent where it is known",
    )
    unknown_partitions: int = Field(
        default=0,
        ge=0,
        exclude_if=lambda count: count == 0,
        description="Committed partitions of which nobody has said for 30 s, by default, where "
        "their logs end: their lag is null, and total_lag is what the group has left at least. "
        "Absent where there are none",
    )
    complete: Share = Field(description="Share of partitions with a full window, 0 to 1")
    policy: str
    total_lag: Count = Field(
        ge=0,
        description="Sum of the known lags, records, and of what is known "
        "of the others: where a log ended when that was told last",
    )
    incident: Incident | None = None
    reason: str | None = Field(default=None, description=f"Of the worst partition. {REASON}")
    explanation: str | None = Field(
        default=None, description="Which partition is worst, and why, in one sentence; null when OK"
    )
    cause: Cause | None = Field(
        default=None,
        exclude_if=is_none,
        description="Whose trouble it is; absent when OK, and from evaluators that do not know it",
    )
    topics: dict[str, TopicLag] = Field(default_factory=dict)
    last_processed: list[str] = Field(
        default_factory=list,
        description="Topics whose committed offsets are seen to be those of the last records "
        "processed, not of the next ones",
    )
    part: int = Field(default=0, ge=0, description="Which part of the evaluation, from 0")
    parts: int = Field(
        default=1,
        ge=1,
        description="Parts in which the evaluation of a huge group is published, with the same "
        "evaluated_at and position: each has some of the partitions, and all else of the whole "
        "group. The first has the group's key, the others +part|cluster|group",
    )
    windows: str | None = Field(
        default=None,
        description="All commits of the windows but the newest ones, packed (base64): partitions "
        "by topic and number; the layout is described in warren_core.evaluation.packed_windows",
    )

    def whole(self, key: bytes | None) -> bytes | None:
        """That of a part names the group behind it."""
        return whole_key(key)
